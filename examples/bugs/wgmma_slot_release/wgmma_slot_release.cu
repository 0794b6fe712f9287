// One warpgroup multiplies a resident A tile with two B tiles that thread 0 bulk-loads into a single slot.
// The matrix unit reads the slot asynchronously: it is free after wgmma.wait_group, not when wgmma has been issued.
// Variants: BUG_FREE_BEFORE_WGMMA_DONE, BUG_NO_PROXY_FENCE, BUG_RESULT_BEFORE_WAIT
#include <cuda_fp16.h>
#include "ptx.cuh"
extern "C" __global__ void __launch_bounds__(128) wgmma_slot_release(const __half* a, const __half* b, float* d) {
  __shared__ alignas(128) __half sa[64 * 16], sb[8 * 16];
  __shared__ uint64_t full, empty;
  const int tid = threadIdx.x;
  if (tid == 0) {
    mbarrier_init(&full, 1);
    mbarrier_init(&empty, 128);
    fence_mbarrier_init();
  }
#pragma unroll 1
  for (int i = tid; i < 64 * 16; i += 128) sa[i] = a[i];
#ifndef BUG_NO_PROXY_FENCE
  fence_proxy_async();
#endif
  __syncthreads();
  if (tid == 0) {
    arrive_expect_tx(&full, sizeof(sb));
    bulk_load(sb, b, sizeof(sb), &full);
  }
  __syncwarp();
  float c[4] = {0, 0, 0, 0};
  pin(c);
  wait(&full, 0);
  wgmma_fence();
  wgmma(c, wgmma_descriptor(sa), wgmma_descriptor(sb));
  wgmma_commit();
#ifndef BUG_FREE_BEFORE_WGMMA_DONE
  wgmma_wait<0>();
#endif
  arrive(&empty);
  if (tid == 0) {
    wait(&empty, 0);
    arrive_expect_tx(&full, sizeof(sb));
    bulk_load(sb, b + 8 * 16, sizeof(sb), &full);
  }
  __syncwarp();
  wait(&full, 1);
  wgmma_fence();
  wgmma(c, wgmma_descriptor(sa), wgmma_descriptor(sb));
  wgmma_commit();
#ifdef BUG_RESULT_BEFORE_WAIT
  d[tid * 4] = c[0];
#endif
  wgmma_wait<0>();
  for (int i = 0; i < 4; ++i) d[tid * 4 + i] = c[i];
}
