// Rank 0 sends two tiles into a slot of rank 1, which frees the slot by arriving on an mbarrier of rank 0.
// Rank 0 must wait for the last arrivals too, though it has nothing more to send: they touch its shared memory.
// Variants: BUG_NO_DRAIN
#include "ptx.cuh"
constexpr int kTiles = 2;
extern "C" __global__ void __cluster_dims__(2, 1, 1) drain_before_exit(const int* in, int* out) {
  __shared__ int slot[32];
  __shared__ uint64_t full, empty;
  const int lane = threadIdx.x;
  if (lane == 0) {
    mbarrier_init(&full, 32);
    mbarrier_init(&empty, 32);
    fence_mbarrier_init();
  }
  cluster_arrive();
  cluster_wait();
  if (cluster_rank() == 0) {
#pragma unroll 1
    for (int t = 0; t < kTiles; ++t) {
      if (t > 0) wait_cluster(&empty, (t - 1) & 1);
      st_remote(mapa(&slot[lane], 1), in[t * 32 + lane]);
      arrive_remote(mapa(&full, 1));
    }
#ifndef BUG_NO_DRAIN
    wait_cluster(&empty, (kTiles - 1) & 1);
#endif
  } else {
    int sum = 0;
#pragma unroll 1
    for (int t = 0; t < kTiles; ++t) {
      wait_cluster(&full, t & 1);
      sum += slot[31 - lane];
      arrive_remote(mapa(&empty, 0));
    }
    out[lane] = sum;
  }
}
