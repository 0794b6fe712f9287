// Two warps copy a tile together (cp.async), meet, and then each works on the whole tile by itself.
// Nothing holds back the faster warp at the end of a round: its next copy overwrites what the slower one still reads.
// Variants: BUG_NO_BARRIER_AT_ROUND_END, TWO_TILES (alternating tiles need only the one barrier)
#include "ptx.cuh"
constexpr int kRounds = 3;
#ifdef TWO_TILES
constexpr int kTiles = 2;
#else
constexpr int kTiles = 1;
#endif
extern "C" __global__ void two_groups_one_tile(const int* in, int* out) {
  __shared__ int tile[kTiles][64];
  const int tid = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    int* now = tile[round % kTiles];
    cp_async(&now[tid], &in[round * 64 + tid]);
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    sum += now[tid] + now[63 - tid];
#if !defined(BUG_NO_BARRIER_AT_ROUND_END) && !defined(TWO_TILES)
    __syncthreads();
#endif
  }
  out[tid] = sum;
}
