// Two blocks meet twice at a counter in global memory. If it counts up in the first round and down in the second, a
// fast block takes it away from the value that the slow block still waits for; a counter that only grows is safe.
// Variants: BUG_UP_AND_DOWN
extern "C" __global__ void counter_up_and_down(int* counter, int* data, int* out) {
  const int me = blockIdx.x;
  int sum = 0;
#pragma unroll 1
  for (int round = 0; round < 2; ++round) {
    data[round * 2 + me] = 10 * round + me + 1;
    __threadfence();
#ifdef BUG_UP_AND_DOWN
    const int step = round == 0 ? 1 : -1, target = round == 0 ? 2 : 0;
#else
    const int step = 1, target = 2 * (round + 1);
#endif
    atomicAdd(counter, step);
#ifdef BUG_UP_AND_DOWN
    while (*static_cast<volatile int*>(counter) != target) {}
#else
    while (*static_cast<volatile int*>(counter) < target) {}
#endif
    __threadfence();
    sum += data[round * 2 + 1 - me];
  }
  out[me] = sum;
}
