// The programs of known numbers of traces.
#pragma once

#include "tests/explorer/toy.h"

namespace warpcheck::toy {

ToyProgram ainc(uint32_t n);        // n: fetch_add(x, 1)
ToyProgram binc(uint32_t n);        // n: fetch_add(x, 1); fetch_add(y, 1)
ToyProgram readers(uint32_t n);     // store x; n: load x
ToyProgram casrot(uint32_t n);      // i = 1..n: CAS(x, i-1 -> i)
ToyProgram casw(uint32_t n);        // i = 0..n-1: CAS(x, 0 -> 1); store x = i+3
ToyProgram lastzero(uint32_t n);
ToyProgram indexer(uint32_t n);
ToyProgram fib(uint32_t n);
ToyProgram ownshared(uint32_t n);   // i: store own[i] = 1; store shared = i+1
ToyProgram sb(uint32_t n);          // i: store x[i] = 1; load x[(i+1) mod n]
ToyProgram ticketlock(uint32_t n);
ToyProgram ttaslock(uint32_t n);    // the exchange blocks until it would return 0
ToyProgram ttasloop(uint32_t n);    // a failing exchange is an event
ToyProgram barrier(uint32_t n);     // by counter and flag
ToyProgram ring(uint32_t consumers, uint32_t stages, uint32_t iterations, bool parity);
ToyProgram two_completions();       // on a barrier that expects one arrival

}  // namespace warpcheck::toy
