// A block barrier that stands under a condition on the thread index, as when several threads share one row.
// Only every second thread of each warp reaches it.
// Variants: BUG_BARRIER_UNDER_CONDITION
extern "C" __global__ void barrier_in_subset(const int* in, int* out) {
  __shared__ int row[32];
  const int tid = threadIdx.x;
  if (tid % 2 == 0) {
    row[tid / 2] = in[tid] + in[tid + 1];
#ifdef BUG_BARRIER_UNDER_CONDITION
    __syncthreads();
#endif
  }
#ifndef BUG_BARRIER_UNDER_CONDITION
  __syncthreads();
#endif
  if (tid % 2 == 0) out[tid / 2] = row[31 - tid / 2];
}
