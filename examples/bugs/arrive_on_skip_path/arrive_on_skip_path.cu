// Warp 1 meets warp 0 at a named barrier each round; rounds from `work` on have nothing to hand over. If warp 0
// only arrives in those, it can arrive twice before warp 1 comes, and the barrier completes without warp 1.
// Variants: BUG_ARRIVE_ON_SKIP_PATH (work = 0), ARRIVE_IN_LAST_ROUND_ONLY (the same PTX with work = 1, as `correct`)
#include "ptx.cuh"
constexpr int kRounds = 2;
extern "C" __global__ void arrive_on_skip_path(const int* in, int* out, int work) {
  __shared__ int tile[kRounds][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int sum = 0;
  if (warp == 0) {
#pragma unroll 1
    for (int round = 0; round < kRounds; ++round) {
      if (round < work) {
        tile[round][lane] = in[round * 32 + lane];
        bar_sync(1, 64);
      } else {
#if defined(BUG_ARRIVE_ON_SKIP_PATH) || defined(ARRIVE_IN_LAST_ROUND_ONLY)
        bar_arrive(1, 64);
#else
        bar_sync(1, 64);
#endif
      }
    }
  } else {
#pragma unroll 1
    for (int round = 0; round < kRounds; ++round) {
      bar_sync(1, 64);
      if (round < work) sum += tile[round][31 - lane];
      else sum += 1000;
    }
    out[lane] = sum;
  }
  __syncthreads();
}
