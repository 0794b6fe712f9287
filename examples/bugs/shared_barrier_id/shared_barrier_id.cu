// Two pairs of warps hand a tile over, each pair at its own pace, on named barriers of 64 threads.
// With one id for both pairs, a warp of one pair completes the barrier together with a warp of the other.
// Variants: BUG_SAME_ID
#include "ptx.cuh"
constexpr int kRounds = 2;
extern "C" __global__ void shared_barrier_id(const int* in, int* out) {
  __shared__ int tile[2][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, pair = warp / 2;
#ifdef BUG_SAME_ID
  const int id = 1;
#else
  const int id = 1 + pair;
#endif
  int sum = 0;
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    if (warp % 2 == 0) tile[pair][lane] = in[(round * 2 + pair) * 32 + lane];
    bar_sync(id, 64);  // filled
    if (warp % 2 == 1) sum += tile[pair][31 - lane];
    bar_sync(id, 64);  // read
  }
  if (warp % 2 == 1) out[pair * 32 + lane] = sum;
  __syncthreads();
}
