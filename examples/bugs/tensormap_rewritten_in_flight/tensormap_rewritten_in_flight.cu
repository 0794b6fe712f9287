// A tensor map in global memory serves two tensor loads in turn; in between it is overwritten in place.
// The first load reads the map asynchronously, so it must have completed before the map changes.
// Variants: BUG_REWRITE_IN_FLIGHT, TWO_MAPS (nothing is overwritten, so nothing to wait for)
#include <cuda.h>
#include "ptx.cuh"
extern "C" __global__ void tensormap_rewritten_in_flight(const __grid_constant__ CUtensorMap map_a,
                                                         const __grid_constant__ CUtensorMap map_b,
                                                         unsigned long long* maps, int* out) {
  __shared__ alignas(128) int tile[2][64];
  __shared__ uint64_t full[2];
  const int lane = threadIdx.x;
#ifdef TWO_MAPS
  unsigned long long* second = maps + 16;
#else
  unsigned long long* second = maps;
#endif
  if (lane == 0) {
    mbarrier_init(&full[0], 1);
    mbarrier_init(&full[1], 1);
    fence_mbarrier_init();
    for (int i = 0; i < 16; ++i) maps[i] = reinterpret_cast<const unsigned long long*>(&map_a)[i];
    publish_map(maps);
    arrive_expect_tx(&full[0], 256);
    tensor_load(tile[0], maps, 0, 0, &full[0]);
#if !defined(BUG_REWRITE_IN_FLIGHT) && !defined(TWO_MAPS)
    wait(&full[0], 0);
#endif
    for (int i = 0; i < 16; ++i) second[i] = reinterpret_cast<const unsigned long long*>(&map_b)[i];
    publish_map(second);
    arrive_expect_tx(&full[1], 256);
    tensor_load(tile[1], second, 0, 0, &full[1]);
  }
  __syncwarp();
  wait(&full[0], 0);
  wait(&full[1], 0);
  for (int i = lane; i < 64; i += 32) out[i] = tile[0][i] + tile[1][63 - i];
}
