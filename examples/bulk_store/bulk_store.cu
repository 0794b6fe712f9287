// Each thread doubles an element into a shared tile; one thread then sends the tile to global memory by a bulk copy.
// -DNO_PROXY_FENCE: the copy reads through the async proxy what the threads wrote through the generic one, with nothing
// but a barrier between.
#include <cstdint>

constexpr int kThreads = 64;

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

__device__ void copy_out(int* to, const int* from, int bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               ::"l"(to), "r"(shared_address(from)), "r"(bytes) : "memory");
}

__device__ void wait_until_read() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

extern "C" __global__ void bulk_store(const int* in, int* out) {
  __shared__ alignas(128) int tile[kThreads];
  tile[threadIdx.x] = 2 * in[threadIdx.x];
#ifndef NO_PROXY_FENCE
  fence_proxy();
#endif
  __syncthreads();
  if (threadIdx.x == 0) {
    copy_out(out, tile, sizeof tile);
    wait_until_read();
  }
}
