// Programs small enough to enumerate: threads that run scripts over words and barriers, without a memory model. They
// implement the seam with the same dependence that real machines use.
//
// A script is asked for a thread's next operation whenever the last one has happened, and may use the thread's registers,
// the result of its last operation, and plain memory.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "explorer/explore.h"
#include "model/dependence.h"
#include "model/machine.h"

namespace warpcheck::toy {

struct Thread {
  uint32_t pc = 0;
  std::array<uint64_t, 8> r{};
  uint64_t result = 0;   // of the last operation: old value, arrivals that acted
  uint16_t choice = 0;   // of the last operation
  Operation last;
  std::vector<uint64_t>* plain = nullptr;
  bool failed = false;                           // an assertion
  std::vector<std::vector<Operation>> children;  // asynchronous operations issued before the next step

  void check(bool condition) { failed = failed || !condition; }
};

// The next operation, or nothing at the end.
using Script = std::function<std::optional<Operation>(Thread&)>;

struct ToyProgram : Program {
  std::vector<Script> threads;
  std::vector<ObjectState> objects;
  size_t plain = 0;

  std::unique_ptr<Machine> make_machine() const override;
  std::string name() const override { return "toy"; }
  Site site(SiteId) const override { return {}; }

  // Threads that share one script get their number in r[7].
  void add(Script script) { threads.push_back(std::move(script)); }
};

// Operations on words of 8 bytes, one an object.
Operation load(uint32_t object);
Operation await(uint32_t object, Predicate predicate, uint64_t value);
Operation store(uint32_t object, uint64_t value);
Operation update(uint32_t object, Rmw rmw, uint64_t value);
Operation cas(uint32_t object, uint64_t expected, uint64_t value);
Operation reduce(uint32_t object, Rmw rmw, uint64_t value);
Operation with_predicate(Operation op, Predicate predicate, uint64_t value);
Operation choose(uint16_t choices);

// Barriers.
Operation init(uint32_t object, uint64_t expected);
Operation arrive(uint32_t object, uint64_t count = 1, int64_t expect_tx = 0);
Operation expect_tx(uint32_t object, int64_t bytes);
Operation complete_tx(uint32_t object, int64_t bytes);
Operation wait_phase(uint32_t object, uint64_t phase);
Operation wait_parity(uint32_t object, uint64_t parity);
Operation meet(uint32_t object, int64_t threads);  // arrives at a named barrier
Operation leave(uint32_t object);                  // exits from it

ObjectState word(uint64_t value = 0);
ObjectState mbarrier(int32_t expected);
ObjectState named_barrier(int32_t alive);

bool equal(uint64_t value, uint64_t operand);
bool not_equal(uint64_t value, uint64_t operand);
bool at_least(uint64_t value, uint64_t operand);
bool odd(uint64_t value, uint64_t operand);

std::string to_string(const Operation& op);

}  // namespace warpcheck::toy
