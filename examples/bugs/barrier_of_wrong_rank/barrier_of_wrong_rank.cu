// The threads of each block signal their own mbarrier through a shared::cluster address. Code written for clusters
// of one block maps to rank 0 whatever the own rank is: with two blocks, rank 1 never gets its signals.
// Variants: BUG_ALWAYS_RANK_0, ALWAYS_RANK_0_CLUSTER_OF_1 (the same PTX, launched with cluster = 1)
#include "ptx.cuh"
extern "C" __global__ void barrier_of_wrong_rank(const int* in, int* out) {
  __shared__ int tile[32];
  __shared__ uint64_t done;
  const int lane = threadIdx.x, first = blockIdx.x * 32;
  if (lane == 0) {
    mbarrier_init(&done, 32);
    fence_mbarrier_init();
  }
  cluster_arrive();
  cluster_wait();
#if defined(BUG_ALWAYS_RANK_0) || defined(ALWAYS_RANK_0_CLUSTER_OF_1)
  const uint32_t rank = 0;
#else
  const uint32_t rank = cluster_rank();
#endif
  tile[lane] = in[first + lane];
  arrive_remote(mapa(&done, rank));
  wait_cluster(&done, 0);
  out[first + lane] = tile[31 - lane];
  cluster_arrive();
  cluster_wait();
}
