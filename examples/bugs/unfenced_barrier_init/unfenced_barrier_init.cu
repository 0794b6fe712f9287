// A thread of warp 1 initialises an mbarrier, all meet, and thread 0 issues a bulk load that completes
// on it. Strictly, the initialisation must also be fenced: the completion is not a thread's ordinary access.
// Variants: NO_INIT_FENCE, BUG_NO_BARRIER
#include "ptx.cuh"
extern "C" __global__ void unfenced_barrier_init(const int* in, int* out) {
  __shared__ alignas(128) int tile[64];
  __shared__ uint64_t full;
  const int tid = threadIdx.x;
  if (tid == 32) {
    mbarrier_init(&full, 1);
#ifndef NO_INIT_FENCE
    fence_mbarrier_init();
#endif
  }
#ifndef BUG_NO_BARRIER
  __syncthreads();
#endif
  if (tid == 0) {
    arrive_expect_tx(&full, sizeof(tile));
    bulk_load(tile, in, sizeof(tile), &full);
  }
  __syncwarp();
  wait(&full, 0);
  out[tid] = tile[63 - tid];
}
