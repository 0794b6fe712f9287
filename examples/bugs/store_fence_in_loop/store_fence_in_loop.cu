// Threads fill a tile and thread 0 bulk-stores it; the writers' proxy fence must follow the last write.
// With the fence only inside the accumulation loop, a launch whose loop runs zero times has no fence at all.
// Variants: BUG_NO_FENCE, FENCE_IN_LOOP (trips = 2), BUG_FENCE_IN_LOOP_ZERO_TRIPS (the same PTX with trips = 0)
#include "ptx.cuh"
#if defined(FENCE_IN_LOOP) || defined(BUG_FENCE_IN_LOOP_ZERO_TRIPS)
constexpr bool kFenceInLoop = true, kFenceAfterLoop = false;
#elif defined(BUG_NO_FENCE)
constexpr bool kFenceInLoop = false, kFenceAfterLoop = false;
#else
constexpr bool kFenceInLoop = false, kFenceAfterLoop = true;
#endif
extern "C" __global__ void store_fence_in_loop(const int* in, int* out, int trips) {
  __shared__ alignas(128) int tile[64];
  const int tid = threadIdx.x;
  tile[tid] = in[tid];
#pragma unroll 1
  for (int t = 0; t < trips; ++t) {
    tile[tid] += t + 1;
    asm volatile("" ::: "memory");
    if (kFenceInLoop) fence_proxy_async();
  }
  if (kFenceAfterLoop) fence_proxy_async();
  __syncthreads();
  if (tid == 0) {
    bulk_store(out, tile, sizeof(tile));
    bulk_commit();
    bulk_wait_read<0>();
  }
}
