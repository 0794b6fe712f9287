// The loop condition is a flag in shared memory that thread 0 rewrites each round. Without a second barrier it may
// change before the other threads have read it; then the threads leave the loop after different numbers of rounds.
// Variants: BUG_NO_BARRIER_BEFORE_REWRITE
extern "C" __global__ void loop_flag_in_shared(const int* in, int* out, int rounds) {
  __shared__ int more;
  const int tid = threadIdx.x;
  int sum = 0, round = 0;
  while (true) {
    if (tid == 0) more = round < rounds;
    __syncthreads();
    if (!more) break;
    sum += in[round * 64 + tid];
    ++round;
#ifndef BUG_NO_BARRIER_BEFORE_REWRITE
    __syncthreads();
#endif
  }
  out[tid] = sum;
}
