// Two scopes of a kernel have shared buffers that were given the same bytes. The bulk store of the first scope
// may read its buffer after the scope has ended, so the second scope must not write before that read is done.
// Variants: BUG_NO_WAIT_AT_SCOPE_END, BUG_WAIT_WITHOUT_BARRIER, DISTINCT_BYTES (no wait needed before the kernel's end)
#include "ptx.cuh"
extern "C" __global__ void scope_buffer_alias(const int* in, int* out) {
  __shared__ alignas(128) int pool[128];
  const int tid = threadIdx.x;
  {
    int* first = pool;
    first[tid] = in[tid];
    fence_proxy_async();
    __syncthreads();
    if (tid == 0) {
      bulk_store(out, first, 256);
      bulk_commit();
#if !defined(BUG_NO_WAIT_AT_SCOPE_END) && !defined(DISTINCT_BYTES)
      bulk_wait_read<0>();
#endif
    }
  }
#ifndef BUG_WAIT_WITHOUT_BARRIER
  __syncthreads();
#endif
  {
#ifdef DISTINCT_BYTES
    int* second = pool + 64;
#else
    int* second = pool;
#endif
    second[tid] = 2 * in[tid];
    __syncthreads();
    out[64 + tid] = second[63 - tid];
  }
  if (tid == 0) bulk_wait_read<0>();
}
