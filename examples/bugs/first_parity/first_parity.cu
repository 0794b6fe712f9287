// One slot handed back and forth through full/empty mbarriers. On a fresh barrier a wait for parity 1 succeeds at
// once and one for parity 0 blocks: the producer must start with 1, the consumer with 0.
// Variants: BUG_PRODUCER_STARTS_WITH_0, BUG_CONSUMER_STARTS_WITH_1
#include "ptx.cuh"
constexpr int kTiles = 2;
#ifdef BUG_PRODUCER_STARTS_WITH_0
constexpr uint32_t kProducer = 0, kConsumer = 0;
#elif defined(BUG_CONSUMER_STARTS_WITH_1)
constexpr uint32_t kProducer = 1, kConsumer = 1;
#else
constexpr uint32_t kProducer = 1, kConsumer = 0;
#endif
extern "C" __global__ void first_parity(const int* in, int* out) {
  __shared__ int slot[32];
  __shared__ uint64_t full, empty;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 32);
    mbarrier_init(&empty, 32);
  }
  __syncthreads();
  if (warp == 0) {
#pragma unroll 1
    for (int t = 0; t < kTiles; ++t) {
      wait(&empty, kProducer ^ (t & 1));
      slot[lane] = in[t * 32 + lane];
      arrive(&full);
    }
  } else {
    int sum = 0;
#pragma unroll 1
    for (int t = 0; t < kTiles; ++t) {
      wait(&full, kConsumer ^ (t & 1));
      sum += slot[31 - lane];
      arrive(&empty);
    }
    out[lane] = sum;
  }
}
