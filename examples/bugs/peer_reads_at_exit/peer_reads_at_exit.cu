// Rank 1 of a cluster reads a tile out of rank 0's shared memory; rank 0 has nothing else to do.
// Rank 0 must stay until the reads are done: by a cluster barrier, or by an mbarrier that the readers arrive on.
// Variants: BUG_NO_BARRIER_AT_EXIT, READERS_ARRIVE
#include "ptx.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) peer_reads_at_exit(const int* in, int* out) {
  __shared__ int tile[32];
  __shared__ uint64_t taken;
  const int lane = threadIdx.x;
  const uint32_t rank = cluster_rank();
  if (rank == 0) {
    tile[lane] = in[lane];
    if (lane == 0) {
      mbarrier_init(&taken, 32);
      fence_mbarrier_init();
    }
  }
  cluster_arrive();
  cluster_wait();
  if (rank == 1) out[lane] = ld_remote(mapa(&tile[31 - lane], 0));
#if defined(READERS_ARRIVE)
  if (rank == 1) arrive_remote(mapa(&taken, 0));
  else wait_cluster(&taken, 0);
#elif !defined(BUG_NO_BARRIER_AT_EXIT)
  cluster_arrive();
  cluster_wait();
#endif
}
