// Rank 0 of a cluster stores into rank 1's shared memory first thing. Rank 1 must have started by then, and its
// own initial values must be there before the remote store, or the store is lost.
// Variants: BUG_NO_BARRIER_AT_ENTRY, BUG_NO_BARRIER_NO_CLEAR (nothing to overwrite: only the start matters)
#include "ptx.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) remote_store_at_entry(const int* in, int* out) {
  __shared__ int inbox[32];
  const int lane = threadIdx.x;
  const uint32_t rank = cluster_rank();
#ifndef BUG_NO_BARRIER_NO_CLEAR
  if (rank == 1) inbox[lane] = -1;
#endif
#if !defined(BUG_NO_BARRIER_AT_ENTRY) && !defined(BUG_NO_BARRIER_NO_CLEAR)
  cluster_arrive();
  cluster_wait();
#endif
  if (rank == 0) st_remote(mapa(&inbox[lane], 1), in[lane]);
  cluster_arrive();
  cluster_wait();
  if (rank == 1) out[lane] = inbox[31 - lane];
}
