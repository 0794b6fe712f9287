// The dependence relation of the search: which steps may be swapped without any difference.
//
// It is at least as coarse as commutation and a trace relation: the pairs that it orders in an execution form a partial
// order, each linearization of it is an execution with the same pairs, and a prefix has the restriction. Pure functions,
// thread-safe. What they rest on:
//
//  - words: two operations on overlapping bytes are ordered unless both read, or both reduce by one operator. What a
//    compare-and-swap is, a read or a write, depends on the state in which it runs.
//  - barriers: steps of one phase commute, steps of different phases are ordered; a lone expect_tx, and steps whose effect
//    depends on the order (Outcome::in_order), are ordered with every step of their phase. A wait for a definite phase is ordered after
//    the steps of that phase and those before it, and never disabled. A step that completes a phase in which a parity wait
//    was made that no arrival of the phase follows *closes* it: it is ordered after that wait and all steps of the phase.
//  - groups: a wait is ordered after the operations that it waits for.
//  - tensor memory: where an allocation lies depends on those before it, so that all its operations are ordered.
#pragma once

#include <span>

#include "model/operation.h"

namespace warpcheck {

// A block's tensor memory as an object: word[0] has a bit for each 32 columns that are taken, and the one below once the
// block has given up allocating; word[1] is the size of the last allocation, in columns.
constexpr uint32_t kTensorUnit = 32;         // columns
constexpr uint64_t kRelinquished = uint64_t{1} << 16;
constexpr uint64_t kNoColumns = ~uint64_t{0};  // result of an allocation that cannot be

// What `op` would do in `state`. A group wait's enabledness is the machine's to say (here: enabled).
Outcome evaluate(const Operation& op, const ObjectState& state);

// Are two events of one execution, `first` before `second`, directly ordered? Different agents assumed.
bool dependent(const Event& first, const Event& second);

// Would `second`, pending and enabled in the state before `first` happened, be ordered with it? That is the question of
// sleep sets and weak initials: judged in the state in which the two meet, by looking at both orders.
bool dependent(const Event& first, const Operation& second);

// What `op` would do in the state that `kept` leads to from `start`, where `kept` are the events on op's object that
// remain when some event and all that depends on it are left out.
Outcome would_be(const Operation& op, ObjectState start, std::span<const Event* const> kept);

// The event that a transition becomes when it happens with that outcome (site and ordinal left to the caller).
inline Event predicted(AgentId agent, const Operation& op, const ObjectState& before, const Outcome& outcome) {
  return {.agent = agent,
          .effect = outcome.effect,
          .completes = outcome.completes,
          .closes = outcome.closes,
          .in_order = outcome.in_order,
          .phase = outcome.phase,
          .op = op,
          .before = before};
}

// Whether leaving out an event on which a wait depends can leave the wait enabled. False for group waits.
bool reversible(const Operation& op);

// Whether op has a condition at all, so that it may be blocked.
bool may_block(const Operation& op);

// Whether a backward walk over the object's events, looking for those that `later` is directly ordered after, may stop at
// `event` once that lies in later's past: all earlier events that matter then do, too.
bool dominates(const Event& event, const Event& later);

}  // namespace warpcheck
