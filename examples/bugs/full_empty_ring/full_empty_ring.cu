// Full/empty mbarriers in place of block barriers: one lane of warp 0 loads into three slots, warp 1 reads them.
// The reader fences its reads towards the async proxy and frees a slot when all its lanes have read.
// Variants: ALL_LANES_FREE, NO_READ_FENCE, BUG_FREE_WITHOUT_SYNCWARP
#include "ptx.cuh"
constexpr int kSlots = 3, kTiles = 5, kTile = 32, kBytes = kTile * sizeof(int);
#ifdef ALL_LANES_FREE
constexpr int kFrees = 32;
#else
constexpr int kFrees = 1;
#endif
extern "C" __global__ void full_empty_ring(const int* in, int* out) {
  __shared__ alignas(128) int ring[kSlots][kTile];
  __shared__ uint64_t full[kSlots], empty[kSlots];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kSlots; ++s) {
      mbarrier_init(&full[s], 1);
      mbarrier_init(&empty[s], kFrees);
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  if (warp == 0) {
    if (lane != 0) return;
#pragma unroll 1
    for (int t = 0; t < kTiles; ++t) {
      const int s = t % kSlots;
      wait(&empty[s], ((t / kSlots) & 1) ^ 1);
      arrive_expect_tx(&full[s], kBytes);
      bulk_load(ring[s], in + t * kTile, kBytes, &full[s]);
    }
  } else {
    int sum = 0;
#pragma unroll 1
    for (int t = 0; t < kTiles; ++t) {
      const int s = t % kSlots;
      wait(&full[s], (t / kSlots) & 1);
      sum += ring[s][31 - lane];
#ifndef NO_READ_FENCE
      fence_proxy_async();
#endif
#if !defined(ALL_LANES_FREE) && !defined(BUG_FREE_WITHOUT_SYNCWARP)
      __syncwarp();
#endif
      if (lane < kFrees) arrive(&empty[s]);
    }
    out[lane] = sum;
  }
}
