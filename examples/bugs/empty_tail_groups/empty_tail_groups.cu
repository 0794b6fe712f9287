// Cp.async ring of three slots, two warps. The wait count never changes: in the last iterations the newest groups
// are empty, so "all but one" still covers the tile that is read. That holds only if the empty groups are committed.
// Variants: BUG_COMMIT_ONLY_COPIES, DRAIN_IN_TAIL (no empty groups, but the wait count drops to 0)
#include "ptx.cuh"
constexpr int kSlots = 3, kTiles = 4;
extern "C" __global__ void empty_tail_groups(const int* in, int* out) {
  __shared__ int ring[kSlots][64];
  const int tid = threadIdx.x;
  for (int t = 0; t < kSlots - 1; ++t) {
    cp_async(&ring[t][tid], &in[t * 64 + tid]);
    cp_async_commit();
  }
  int sum = 0;
#pragma unroll 1
  for (int t = 0; t < kTiles; ++t) {
#ifdef DRAIN_IN_TAIL
    if (t + 1 == kTiles) cp_async_wait<0>();
#endif
    cp_async_wait<kSlots - 2>();
    __syncthreads();  // tile t is there, and nobody reads tile t - 1 any more
    sum += ring[t % kSlots][tid ^ 32];
    const int next = t + kSlots - 1;
    if (next < kTiles) {
      cp_async(&ring[next % kSlots][tid], &in[next * 64 + tid]);
#if defined(BUG_COMMIT_ONLY_COPIES) || defined(DRAIN_IN_TAIL)
      cp_async_commit();
#endif
    }
#if !defined(BUG_COMMIT_ONLY_COPIES) && !defined(DRAIN_IN_TAIL)
    cp_async_commit();
#endif
  }
  out[tid] = sum;
}
