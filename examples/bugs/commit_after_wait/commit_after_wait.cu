// Cp.async pipeline of one warp over three slots; every thread copies and reads its own element.
// The newest copy must be committed before the wait, or the one group that the wait leaves pending is an older tile.
// Variants: BUG_COMMIT_AFTER_WAIT
#include "ptx.cuh"
constexpr int kSlots = 3, kTiles = 4;
extern "C" __global__ void commit_after_wait(const int* in, int* out) {
  __shared__ int ring[kSlots][32];
  const int lane = threadIdx.x;
  for (int t = 0; t < kSlots - 1; ++t) {
    cp_async(&ring[t][lane], &in[t * 32 + lane]);
    cp_async_commit();
  }
  cp_async_wait<kSlots - 2>();
  int sum = 0;
#pragma unroll 1
  for (int t = 0; t < kTiles; ++t) {
    const int next = t + kSlots - 1;
    if (next < kTiles) cp_async(&ring[next % kSlots][lane], &in[next * 32 + lane]);
#ifndef BUG_COMMIT_AFTER_WAIT
    cp_async_commit();
#endif
    sum += ring[t % kSlots][lane];
    cp_async_wait<kSlots - 2>();
#ifdef BUG_COMMIT_AFTER_WAIT
    cp_async_commit();
#endif
  }
  out[lane] = sum;
}
