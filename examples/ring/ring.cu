// A producer warp streams tiles through a ring of shared-memory slots by bulk copies (TMA); a consumer warp adds them up.
// full[s]: the tile of slot s has landed. empty[s]: all consumers are done with slot s.
// -DRELEASE_TOO_EARLY: the consumer gives the slot back before it has read it.
#include <cstdint>

constexpr int kSlots = 2, kTiles = 5, kTile = 32;

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void init(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

__device__ void arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ void arrive_and_expect(uint64_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;"
               ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

__device__ void wait(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}" ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}

__device__ void copy_tile(int* to, const int* from, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(shared_address(to)), "l"(from), "n"(kTile * 4), "r"(shared_address(barrier)) : "memory");
}

extern "C" __global__ void ring(const int* in, int* out) {
  __shared__ alignas(128) int slots[kSlots][kTile];
  __shared__ uint64_t full[kSlots], empty[kSlots];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  if (threadIdx.x == 0) {
    for (int s = 0; s < kSlots; ++s) {
      init(&full[s], 1);
      init(&empty[s], 32);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  if (warp == 0) {
    if (lane != 0) return;
#pragma unroll 1
    for (int t = 0; t < kTiles; ++t) {
      const int s = t % kSlots;
      wait(&empty[s], (t / kSlots + 1) & 1);
      arrive_and_expect(&full[s], sizeof slots[s]);
      copy_tile(slots[s], in + t * kTile, &full[s]);
    }
  } else {
    int sum = 0;
#pragma unroll 1
    for (int t = 0; t < kTiles; ++t) {
      const int s = t % kSlots;
      wait(&full[s], (t / kSlots) & 1);
#ifdef RELEASE_TOO_EARLY
      arrive(&empty[s]);
      sum += slots[s][lane];
#else
      sum += slots[s][lane];
      arrive(&empty[s]);
#endif
    }
    out[lane] = sum;
  }
}
