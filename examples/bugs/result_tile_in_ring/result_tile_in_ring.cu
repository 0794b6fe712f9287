// Two result tiles, k_steps loads each through a ring of two slots; a result is staged in slot 1 and bulk-stored.
// The next load into slot 1 must wait for that store; "at the second load of a tile" is right for even k_steps only.
// Variants: FIXED_WAIT_K2, FIXED_WAIT_K4, BUG_FIXED_WAIT_K3 (one PTX, k_steps by launch; `correct` runs with 3)
#include "ptx.cuh"
#if defined(FIXED_WAIT_K2) || defined(FIXED_WAIT_K4) || defined(BUG_FIXED_WAIT_K3)
constexpr bool kFixedWait = true;
#else
constexpr bool kFixedWait = false;
#endif
extern "C" __global__ void result_tile_in_ring(const int* in, int* out, int k_steps) {
  __shared__ alignas(128) int ring[2][32];
  __shared__ uint64_t full[2];
  const int lane = threadIdx.x;
  if (lane == 0) {
    mbarrier_init(&full[0], 1);
    mbarrier_init(&full[1], 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  int load = 0;  // counts on over both tiles
#pragma unroll 1
  for (int tile = 0; tile < 2; ++tile) {
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < k_steps; ++k, ++load) {
      const int s = load % 2;
      if (lane == 0) {
        if (kFixedWait ? k == 1 : s == 1) bulk_wait_read<0>();
        arrive_expect_tx(&full[s], 128);
        bulk_load(ring[s], in + load * 32, 128, &full[s]);
      }
      __syncwarp();
      wait(&full[s], (load / 2) & 1);
      sum += ring[s][31 - lane];
      fence_proxy_async();  // reads before the next load of the slot
      __syncwarp();
    }
    ring[1][lane] = sum;
    fence_proxy_async();
    __syncwarp();
    if (lane == 0) {
      bulk_store(out + tile * 32, ring[1], 128);
      bulk_commit();
    }
  }
  if (lane == 0) bulk_wait_read<0>();
}
