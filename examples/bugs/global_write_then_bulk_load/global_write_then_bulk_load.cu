// Block 0 writes global memory with ordinary stores, block 1 bulk-loads it after a release/acquire hand-shake.
// Release and acquire order the generic proxy only; a proxy fence for global memory must lie on the path.
// Variants: FENCE_BY_LOADER, BUG_NO_FENCE, BUG_SHARED_FENCE_ONLY (a fence for the wrong state space)
#include "ptx.cuh"
extern "C" __global__ void global_write_then_bulk_load(int* data, int* flag, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t full;
  const int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    data[lane] = 3 * lane;
#if defined(BUG_SHARED_FENCE_ONLY)
    fence_proxy_async();
#elif !defined(FENCE_BY_LOADER) && !defined(BUG_NO_FENCE)
    fence_proxy_async_global();
#endif
    __syncwarp();
    if (lane == 0) st_release_gpu(flag, 1);
  } else {
    if (lane == 0) {
      mbarrier_init(&full, 1);
      fence_mbarrier_init();
    }
    __syncwarp();
    if (lane == 0) {
      while (ld_acquire_gpu(flag) == 0) {}
#ifdef FENCE_BY_LOADER
      fence_proxy_async_global();
#endif
      arrive_expect_tx(&full, sizeof(tile));
      bulk_load(tile, data, sizeof(tile), &full);
    }
    __syncwarp();
    wait(&full, 0);
    out[lane] = tile[31 - lane];
  }
}
