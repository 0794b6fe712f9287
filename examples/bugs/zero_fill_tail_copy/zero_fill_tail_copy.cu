// The last pipeline iterations have nothing to load but still issue a cp.async of zero source bytes: it writes
// zeros, and must have been awaited before the epilogue uses its slot for something else.
// Variants: BUG_NO_FINAL_WAIT, SKIPPED_TAIL_COPY (no copy in the tail, so no wait either)
#include "ptx.cuh"
constexpr int kTiles = 3;
extern "C" __global__ void zero_fill_tail_copy(const int* in, int* out) {
  __shared__ int slot[2][32];
  const int lane = threadIdx.x;
  cp_async_or_zero(&slot[0][lane], &in[lane], 4);
  cp_async_commit();
  int sum = 0;
#pragma unroll 1
  for (int t = 0; t < kTiles; ++t) {
    const int next = t + 1;
#ifdef SKIPPED_TAIL_COPY
    if (next < kTiles) cp_async_or_zero(&slot[next % 2][lane], &in[next * 32 + lane], 4);
#else
    cp_async_or_zero(&slot[next % 2][lane], &in[next % kTiles * 32 + lane], next < kTiles ? 4 : 0);
#endif
    cp_async_commit();
    cp_async_wait<1>();
    sum += slot[t % 2][lane];
  }
#if !defined(BUG_NO_FINAL_WAIT) && !defined(SKIPPED_TAIL_COPY)
  cp_async_wait<0>();
#endif
  slot[kTiles % 2][lane] = sum;  // the slot of the tail copy becomes the exchange buffer
  __syncwarp();
  out[lane] = slot[kTiles % 2][31 - lane];
}
