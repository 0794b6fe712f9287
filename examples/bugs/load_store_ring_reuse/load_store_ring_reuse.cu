// One thread streams tiles global -> shared -> global through two slots and never touches the data itself.
// A slot may be loaded again when the bulk store that reads it has finished reading (wait_group.read is enough).
// Variants: BUG_WAIT_LEAVES_ONE (the group that may stay pending is the one that matters), REFILL_PREVIOUS_SLOT
#include "ptx.cuh"
constexpr int kTiles = 4, kTile = 32, kBytes = kTile * sizeof(int);
extern "C" __global__ void load_store_ring_reuse(const int* in, int* out) {
  __shared__ alignas(128) int slot[2][kTile];
  __shared__ uint64_t full[2];
  if (threadIdx.x != 0) return;
  mbarrier_init(&full[0], 1);
  mbarrier_init(&full[1], 1);
  fence_mbarrier_init();
  for (int t = 0; t < 2; ++t) {
    arrive_expect_tx(&full[t], kBytes);
    bulk_load(slot[t], in + t * kTile, kBytes, &full[t]);
  }
#pragma unroll 1
  for (int t = 0; t < kTiles; ++t) {
    wait(&full[t % 2], (t / 2) & 1);
    bulk_store(out + t * kTile, slot[t % 2], kBytes);
    bulk_commit();
#if defined(REFILL_PREVIOUS_SLOT)
    const int next = t == 0 ? kTiles : t + 1;  // into the slot of tile t - 1
    bulk_wait_read<1>();
#elif defined(BUG_WAIT_LEAVES_ONE)
    const int next = t + 2;
    bulk_wait_read<1>();
#else
    const int next = t + 2;  // into the slot of tile t
    bulk_wait_read<0>();
#endif
    if (next < kTiles) {
      arrive_expect_tx(&full[next % 2], kBytes);
      bulk_load(slot[next % 2], in + next * kTile, kBytes, &full[next % 2]);
    }
  }
  bulk_wait_read<0>();
}
