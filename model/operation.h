// What the search knows of a step: the operation that an agent would take next (a Transition) or has taken (an Event),
// and the state of the one object that it touches. Plain data without pointers into a machine, so that dependence
// (dependence.h) is a matter of pure functions.
//
// A step touches one object at most. Objects are of four sorts: a 16-byte granule of memory that holds words for
// atomics, a barrier (mbarrier, named barrier, block and cluster barrier), a thread's sequence of asynchronous groups, and a
// block's tensor memory (who has which columns).
#pragma once

#include <array>
#include <cstdint>

#include "model/ids.h"

namespace warpcheck {

enum class OpKind : uint8_t {
  kLocal,         // touches no object (a choice); commutes with everything
  kLoad,          // atomic or strong load of a word; with a predicate it waits until that holds
  kStore,         // atomic or strong store
  kUpdate,        // read-modify-write whose result is used; with a predicate it waits until that holds of the old value
  kReduce,        // read-modify-write whose result is dead: commutes with its own kind
  kPlainLoad,     // weak load, inside one granule; a step only under --plain-steps
  kPlainStore,    // weak store of `operand`, inside one granule; likewise
  kBarrierInit,   // mbarrier.init with `operand` expected arrivals
  kBarrierInval,  // mbarrier.inval
  kArrive,        // `operand` arrivals, preceded by `bytes` of expect_tx; `drop` lowers later phases. With `splits` (lanes of
                  // a warp, one arrival each) no more than are pending act in this step; the rest stay pending
  kExpectTx,      // expect_tx of `bytes` alone, or `operand` more arrivals of this phase
  kCompleteTx,    // `bytes` of an asynchronous copy have landed
  kWaitPhase,     // waits until phase number `operand` has completed: never disabled once enabled
  kWaitParity,    // waits until the phase of parity `operand` has completed: disabled when the barrier laps
  kBarrierArrive, // `operand` threads arrive at a named, block or cluster barrier that awaits `bytes` (0: all alive)
  kBarrierExit,   // `operand` threads exit: barriers without a count no longer await them
  kReadDone,      // asynchronous operation number `operand` of the group object's thread has read its source
  kCopyDone,      // ... is complete
  kWaitRead,      // waits for the read side of all operations up to number `operand`
  kWaitGroup,     // waits for all operations up to number `operand`
  kTensorAlloc,   // waits until `operand` columns of tensor memory are free, and takes them: result is the first
  kTensorFree,    // gives `bytes` columns back, from column `operand`
  kTensorRelinquish,  // the block allocates no more
};

enum class Rmw : uint8_t { kNone, kExchange, kCompareSwap, kAdd, kMinS, kMinU, kMaxS, kMaxU, kAnd, kOr, kXor, kIncrement,
                           kDecrement, kAddF32, kAddF64,
                           // of each two bytes of the word
                           kAddF16, kMinF16, kMaxF16, kAddBf16, kMinBf16, kMaxBf16 };

// A condition that a waiting load or update puts on the value of its word. Pure.
using Predicate = bool (*)(uint64_t value, uint64_t operand);

struct Operation {
  OpKind kind = OpKind::kLocal;
  Rmw rmw = Rmw::kNone;
  uint8_t begin = 0;             // first byte inside the granule (words)
  uint8_t size = 0;              // bytes (words): 1, 2, 4, 8
  bool drop = false;             // kArrive: arrive_drop
  bool splits = false;           // kArrive: see there
  bool releases = false;         // kUpdate: releases, so it counts as a write even if it leaves the value as it is
  uint16_t choices = 1;          // the step has this many outcomes; the search tries each
  ObjectId object = kNoObject;
  uint64_t operand = 0;          // value to store, to combine, count, phase, parity
  uint64_t compare = 0;          // kCompareSwap: expected value
  Predicate predicate = nullptr; // waits: holds(value, predicate_operand)
  uint64_t predicate_operand = 0;
  int64_t bytes = 0;             // transaction bytes; kBarrierArrive: threads awaited
  uint64_t covers = 0;           // arrivals, parity waits: which parity waits made in phase `covers_phase`, the latest of
  uint32_t covers_phase = 0;     // which any lies there, lie in the agent's control clock (by agent bit)
  uint64_t waiter_bit = 0;       // kWaitParity: the agent's bit in ObjectState::waits
};

// All that decides what an operation on the object does. 48 bytes, compared by value.
struct ObjectState {
  std::array<uint64_t, 2> word = {0, 0};  // granule: its 16 bytes, little endian; tensor memory: see dependence.h
  // Barriers. A phase of an mbarrier completes when pending and tx are both zero.
  uint32_t phase = 0;     // completed phases
  int32_t pending = 0;    // mbarrier: arrivals still owed; named: threads arrived in this phase
  int32_t expected = 0;   // mbarrier: arrivals of a phase; named: threads alive
  int32_t awaited = 0;    // named: threads that this phase awaits, 0 before the first arrival, -1: all alive
  int64_t tx = 0;         // mbarrier: bytes expected and not yet complete
  uint64_t waits = 0;     // parity waits made in this phase that no arrival of the phase is known to follow
  bool live = false;      // mbarrier: initialized

  friend bool operator==(const ObjectState&, const ObjectState&) = default;
};

// What an operation does to the rest of the world, as far as dependence cares.
enum class Effect : uint8_t {
  kNothing,  // independent of everything (kLocal, an operation on a barrier not live)
  kRead,     // leaves the object as it is
  kWrite,
  kReduce,   // commutes with reductions of the same operator on the same bytes
  kStep,     // a step of a barrier's phase
  kWait,     // observes a barrier's phase
};

// What would happen if an operation ran in a state (evaluate in dependence.h).
struct Outcome {
  bool enabled = true;
  Effect effect = Effect::kNothing;
  bool completes = false;  // completes a phase
  bool closes = false;     // completes a phase and thereby may disable a parity wait made in it
  bool overrun = false;    // an arrival beyond the pending count, which has no effect
  bool in_order = false;   // ordered with every step of its phase: an arrival that overruns or splits, one that leaves
                           // bytes below zero with no arrivals owed, one beyond a count, an exit from a phase with one
  uint32_t phase = 0;      // the phase that a step belongs to; for a wait the phases observed are those below this number
  uint64_t result = 0;     // old value of a word; kArrive: arrivals that acted
  ObjectState after;
};

// What an agent would do next.
struct Transition {
  enum class Status : uint8_t {
    kAbsent,    // not born yet in this run
    kEnabled,   // may step
    kBlocked,   // waits: step would violate its condition
    kFinished,  // has nothing left to do
  };
  Status status = Status::kAbsent;
  Operation op;
};

// What an agent has done. `before` is the object's state just before it.
struct Event {
  AgentId agent = kNoAgent;
  uint16_t choice = 0;      // which of op.choices was taken
  uint32_t ordinal = 0;     // number of this event among the agent's, from 0
  Effect effect = Effect::kNothing;
  bool completes = false, closes = false, in_order = false;
  uint32_t phase = 0;
  SiteId site = kNoSite;
  Operation op;
  ObjectState before;
};

}  // namespace warpcheck
