// Four warps store start values into tensor memory and one thread's MMA accumulates onto them. The block barrier
// (with the tensor-core fences) must come after the stores have completed; one CTA instead of a CTA pair.
// Variants: BUG_BARRIER_BEFORE_STORE, BUG_NO_WAIT_FOR_STORE, NO_FENCE_AFTER_BARRIER
#include <cuda_fp16.h>
#define USE_TCGEN05
#include "ptx.cuh"
extern "C" __global__ void __launch_bounds__(128) tcgen05_store_then_mma(const __half* a, const __half* b, float* d) {
  __shared__ alignas(128) __half sa[128 * 16], sb[16 * 16];
  __shared__ uint32_t base;
  __shared__ uint64_t done;
  const int tid = threadIdx.x, warp = tid / 32;
  if (warp == 0) {
    tcgen05_alloc(&base, 32);
    tcgen05_relinquish();
  }
  if (tid == 0) {
    mbarrier_init(&done, 1);
    fence_mbarrier_init();
  }
#pragma unroll 1
  for (int i = tid; i < 128 * 16; i += 128) sa[i] = a[i];
#pragma unroll 1
  for (int i = tid; i < 16 * 16; i += 128) sb[i] = b[i];
  fence_proxy_async();
  tcgen05_before_sync();
  __syncthreads();
  tcgen05_after_sync();
  const uint32_t columns = *static_cast<volatile uint32_t*>(&base), mine = columns + (warp * 32 << 16);
#ifndef BUG_BARRIER_BEFORE_STORE
  tcgen05_st16(mine, __float_as_int(1.f));
#ifndef BUG_NO_WAIT_FOR_STORE
  tcgen05_wait_st();
#endif
#endif
  tcgen05_before_sync();
  __syncthreads();
#ifndef NO_FENCE_AFTER_BARRIER
  tcgen05_after_sync();
#endif
#ifdef BUG_BARRIER_BEFORE_STORE
  tcgen05_st16(mine, __float_as_int(1.f));
  tcgen05_wait_st();
#endif
  if (tid == 0) {
    tcgen05_mma(columns, tcgen05_descriptor(sa), tcgen05_descriptor(sb));
    tcgen05_commit(&done);
  }
  __syncwarp();
  wait(&done, 0);
  tcgen05_after_sync();
  tcgen05_wait_st();
  uint32_t r[4];
  tcgen05_ld4(r, mine);
  tcgen05_wait_ld();
  for (int i = 0; i < 4; ++i) d[tid * 4 + i] = __uint_as_float(r[i]);
  tcgen05_before_sync();
  __syncthreads();
  tcgen05_after_sync();
  if (warp == 0) tcgen05_dealloc(columns, 32);
}
