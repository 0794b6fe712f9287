// All threads of two blocks store partial results, thread 0 draws a ticket, and the block with the last ticket
// adds up everything. The ticket must release the block's stores and acquire those of the others.
// Variants: NO_ACQUIRE_FENCE, ACQ_REL_TICKET, BUG_NO_FENCES, BUG_NO_RELEASE_FENCE, BUG_NO_BARRIER_BEFORE_TICKET
#include <cuda/atomic>
extern "C" __global__ void last_block_all_threads(const int* in, int* partial, int* tickets, int* out) {
  __shared__ int ticket;
  const int tid = threadIdx.x, i = blockIdx.x * 32 + tid;
  partial[i] = in[i] + 1;
#ifndef BUG_NO_BARRIER_BEFORE_TICKET
  __syncthreads();
#endif
  if (tid == 0) {
#ifdef ACQ_REL_TICKET
    ticket = cuda::atomic_ref<int, cuda::thread_scope_device>(*tickets).fetch_add(1, cuda::std::memory_order_acq_rel);
#else
#if !defined(BUG_NO_FENCES) && !defined(BUG_NO_RELEASE_FENCE)
    __threadfence();
#endif
    ticket = atomicAdd(tickets, 1);
#if !defined(BUG_NO_FENCES) && !defined(NO_ACQUIRE_FENCE)
    __threadfence();
#endif
#endif
  }
  __syncthreads();
  if (ticket == 1) out[tid] = partial[tid] + partial[63 - tid];
}
