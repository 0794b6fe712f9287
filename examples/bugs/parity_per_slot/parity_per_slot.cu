// Two slots take turns, and one mbarrier counts every load, so its phase flips each iteration.
// A waiter that computes the parity as if each slot had a barrier of its own is let through by an older phase.
// Variants: BUG_PARITY_OF_SLOT, BARRIER_PER_SLOT (then that parity is right)
#include "ptx.cuh"
constexpr int kTiles = 4, kTile = 64, kBytes = kTile * sizeof(int);
extern "C" __global__ void parity_per_slot(const int* in, int* out) {
  __shared__ alignas(128) int slot[2][kTile];
  __shared__ uint64_t full[2];
  const int tid = threadIdx.x;
  if (tid == 0) {
    mbarrier_init(&full[0], 1);
    mbarrier_init(&full[1], 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (int t = 0; t < kTiles; ++t) {
    const int s = t % 2;
#if defined(BARRIER_PER_SLOT)
    uint64_t* loaded = &full[s];
    const uint32_t parity = (t / 2) & 1;
#elif defined(BUG_PARITY_OF_SLOT)
    uint64_t* loaded = &full[0];
    const uint32_t parity = (t / 2) & 1;
#else
    uint64_t* loaded = &full[0];
    const uint32_t parity = t & 1;
#endif
    if (tid == 0) {
      arrive_expect_tx(loaded, kBytes);
      bulk_load(slot[s], in + t * kTile, kBytes, loaded);
    }
    __syncwarp();
    wait(loaded, parity);
    sum += slot[s][63 - tid];
    fence_proxy_async();
    __syncthreads();
  }
  out[tid] = sum;
}
