// Warp 0 fills a tile, each lane fences, and one elected lane arrives on the mbarrier that warp 1 waits on.
// A fence is no rendezvous: that arrival publishes the other lanes' stores only if they meet it in a __syncwarp first.
// Variants: ALL_LANES_ARRIVE, BUG_ELECTED_WITHOUT_SYNCWARP, BUG_LANE_0_WITHOUT_SYNCWARP
#include "ptx.cuh"
extern "C" __global__ void elected_arrival(const int* in, int* out) {
  __shared__ int tile[32];
  __shared__ uint64_t full;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
#ifdef ALL_LANES_ARRIVE
    mbarrier_init(&full, 32);
#else
    mbarrier_init(&full, 1);
#endif
  }
  __syncthreads();
  if (warp == 0) {
    tile[lane] = in[lane];
    fence_proxy_async();
#if defined(ALL_LANES_ARRIVE)
    arrive(&full);
#elif defined(BUG_ELECTED_WITHOUT_SYNCWARP)
    if (elected()) arrive(&full);
#elif defined(BUG_LANE_0_WITHOUT_SYNCWARP)
    if (lane == 0) arrive(&full);
#else
    __syncwarp();
    if (elected()) arrive(&full);
#endif
  } else {
    wait(&full, 0);
    out[lane] = tile[31 - lane];
  }
}
