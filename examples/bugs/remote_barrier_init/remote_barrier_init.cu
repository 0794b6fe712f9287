// Rank 1 of a cluster stores into rank 0's shared memory and arrives on an mbarrier that rank 0 has initialised.
// The init must reach the cluster first: by fence.mbarrier_init and a relaxed cluster barrier, or by a releasing one.
// Variants: RELEASING_CLUSTER_BARRIER, BUG_RELAXED_WITHOUT_FENCE, BUG_NO_CLUSTER_BARRIER
#include "ptx.cuh"
extern "C" __global__ void __cluster_dims__(2, 1, 1) remote_barrier_init(const int* in, int* out) {
  __shared__ int inbox[32];
  __shared__ uint64_t full;
  const int lane = threadIdx.x;
  const uint32_t rank = cluster_rank();
  if (rank == 0 && lane == 0) {
    mbarrier_init(&full, 32);
#if !defined(RELEASING_CLUSTER_BARRIER) && !defined(BUG_RELAXED_WITHOUT_FENCE)
    fence_mbarrier_init();
#endif
  }
#if defined(BUG_NO_CLUSTER_BARRIER)
  __syncthreads();
#elif defined(RELEASING_CLUSTER_BARRIER)
  cluster_arrive();
  cluster_wait();
#else
  cluster_arrive_relaxed();
  cluster_wait();
#endif
  if (rank == 1) {
    st_remote(mapa(&inbox[lane], 0), in[lane]);
    arrive_remote(mapa(&full, 0));
  } else {
    wait_cluster(&full, 0);
    out[lane] = inbox[31 - lane];
  }
}
