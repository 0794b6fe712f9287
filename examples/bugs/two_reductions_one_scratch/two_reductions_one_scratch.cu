// A reduction along columns and one along rows of an 8x8 block use the same shared scratch, one after the other.
// The second may not fill the scratch before everyone has finished reading it in the first.
// Variants: BUG_NO_BARRIER_BETWEEN, BUG_NO_BARRIER_IN_SECOND, TWO_SCRATCHES (needs no barrier in between)
extern "C" __global__ void two_reductions_one_scratch(const int* in, int* out) {
  __shared__ int scratch[2][64];
  const int tid = threadIdx.x, x = tid % 8, y = tid / 8;
  int* first = scratch[0];
#ifdef TWO_SCRATCHES
  int* second = scratch[1];
#else
  int* second = scratch[0];
#endif
  first[tid] = in[tid];
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < 8; ++i) sum += first[i * 8 + x];
#if !defined(BUG_NO_BARRIER_BETWEEN) && !defined(TWO_SCRATCHES)
  __syncthreads();
#endif
  second[tid] = sum + in[64 + tid];
#ifndef BUG_NO_BARRIER_IN_SECOND
  __syncthreads();
#endif
  int total = 0;
#pragma unroll 1
  for (int i = 0; i < 8; ++i) total += second[y * 8 + i];
  out[tid] = total;
}
