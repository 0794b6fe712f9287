// The laws of dependence on one object, over whole domains: all multisets of up to four operations, each of an agent of its
// own, in all orders. Swapping two neighbours that the relation calls independent must give an execution again, with the
// same ordered pairs and the same final state; so the classes under swaps are partial orders, and each linearization of one
// is an execution with the same pairs. And what is said of a pending operation must be what is said once it has happened.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/dependence.h"

namespace warpcheck {
namespace {

using Relation = std::function<bool(const Event&, const Event&)>;
using Order = std::vector<size_t>;  // which operation runs when

struct Domain {
  std::string name;
  std::vector<Operation> operations;
  std::vector<ObjectState> starts;
  bool all_alive = false;  // a named barrier's start: the threads of the multiset's operations are alive
};

Operation word(OpKind kind, uint64_t operand, Rmw rmw = Rmw::kNone) {
  Operation op;
  op.kind = kind;
  op.rmw = rmw;
  op.size = 4;
  op.object = ObjectId{0};
  op.operand = operand;
  return op;
}

Operation barrier(OpKind kind, uint64_t operand, int64_t bytes = 0) {
  Operation op;
  op.kind = kind;
  op.object = ObjectId{0};
  op.operand = operand;
  op.bytes = bytes;
  return op;
}

bool at_least(uint64_t value, uint64_t operand) { return value >= operand; }

Domain words() {
  Domain domain{"words", {}, {ObjectState{}}};
  domain.operations = {word(OpKind::kLoad, 0), word(OpKind::kStore, 1), word(OpKind::kStore, 2),
                       word(OpKind::kUpdate, 1, Rmw::kAdd), word(OpKind::kReduce, 1, Rmw::kAdd),
                       word(OpKind::kReduce, 2, Rmw::kMaxU), word(OpKind::kUpdate, 1, Rmw::kExchange)};
  Operation swap = word(OpKind::kUpdate, 3, Rmw::kCompareSwap);
  swap.compare = 1;
  domain.operations.push_back(swap);
  Operation await = word(OpKind::kLoad, 0);
  await.predicate = at_least;
  await.predicate_operand = 2;
  domain.operations.push_back(await);
  Operation half = word(OpKind::kStore, 7);
  half.size = 2;
  half.begin = 2;
  domain.operations.push_back(half);
  return domain;
}

ObjectState mbarrier(int32_t expected, uint32_t phase) {
  ObjectState state;
  state.live = true;
  state.pending = state.expected = expected;
  state.phase = phase;
  return state;
}

Domain mbarriers() {
  Domain domain{"mbarriers", {}, {mbarrier(1, 0), mbarrier(2, 0), mbarrier(2, 1), mbarrier(3, 2)}};
  domain.operations = {barrier(OpKind::kArrive, 1),       barrier(OpKind::kArrive, 2),
                       barrier(OpKind::kArrive, 1, 16),   barrier(OpKind::kCompleteTx, 0, 16),
                       barrier(OpKind::kExpectTx, 0, 16), barrier(OpKind::kWaitParity, 0),
                       barrier(OpKind::kWaitParity, 1),   barrier(OpKind::kWaitPhase, 0),
                       barrier(OpKind::kWaitPhase, 1),    barrier(OpKind::kBarrierInval, 0)};
  Operation lanes = barrier(OpKind::kArrive, 2);
  lanes.splits = true;
  domain.operations.push_back(lanes);
  Operation drop = barrier(OpKind::kArrive, 1);
  drop.drop = true;
  domain.operations.push_back(drop);
  return domain;
}

Domain named_barriers() {
  ObjectState state;
  state.live = true;
  return {"named barriers",
          {barrier(OpKind::kBarrierArrive, 1), barrier(OpKind::kBarrierArrive, 1, 2), barrier(OpKind::kBarrierArrive, 2),
           barrier(OpKind::kBarrierExit, 1), barrier(OpKind::kWaitPhase, 0)},
          {state},
          true};
}

// Threads that arrive or exit, each operation being one's own.
int32_t threads_of(const std::vector<Operation>& ops) {
  int32_t count = 0;
  for (const Operation& op : ops) {
    if (op.kind == OpKind::kBarrierArrive || op.kind == OpKind::kBarrierExit) count += static_cast<int32_t>(op.operand);
  }
  return count;
}

// What one order does from `start`; nullopt when an operation would have to wait.
struct Run {
  std::vector<Event> events;
  ObjectState final;
};

std::optional<Run> run(const std::vector<Operation>& ops, const Order& order, const ObjectState& start) {
  Run result{{}, start};
  for (const size_t i : order) {
    Operation op = ops[i];
    if (op.kind == OpKind::kWaitParity) op.waiter_bit = uint64_t{1} << i;
    const Outcome outcome = evaluate(op, result.final);
    if (!outcome.enabled) return std::nullopt;
    result.events.push_back(predicted(AgentId{static_cast<uint32_t>(i)}, op, result.final, outcome));
    result.final = outcome.after;
  }
  return result;
}

using Pairs = std::set<std::pair<size_t, size_t>>;

Pairs ordered_pairs(const Run& run, const Order& order, const Relation& related) {
  Pairs pairs;
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = i + 1; j < order.size(); ++j) {
      if (related(run.events[i], run.events[j])) pairs.emplace(order[i], order[j]);
    }
  }
  return pairs;
}

// Bytes that complete with no arrival owed and none expected (kernels in error): only soundness is promised.
bool in_error(const Run& run) {
  for (const Event& event : run.events) {
    if (event.before.pending == 0 && event.before.tx < 0) return true;
  }
  return false;
}

std::string text(const std::vector<Operation>& ops, const Order& order) {
  std::string result;
  for (const size_t i : order) {
    result += "kind " + std::to_string(static_cast<int>(ops[i].kind)) + " operand " + std::to_string(ops[i].operand) +
              " bytes " + std::to_string(ops[i].bytes) + "; ";
  }
  return result;
}

struct Tally {
  uint64_t orders = 0, swaps = 0;
  std::string broken;   // the law that did not hold last
  std::string example;  // where
};

void check_swaps(const std::vector<Operation>& ops, const Order& order, const ObjectState& start,
                 const Relation& related, Tally& tally) {
  const std::optional<Run> before = run(ops, order, start);
  if (!before) return;
  ++tally.orders;
  const Pairs pairs = ordered_pairs(*before, order, related);
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    if (related(before->events[i], before->events[i + 1])) continue;
    ++tally.swaps;
    Order swapped = order;
    std::swap(swapped[i], swapped[i + 1]);
    const std::optional<Run> after = run(ops, swapped, start);
    if (!after) {
      tally.broken = "a swap of independent steps is no execution";
      tally.example = text(ops, order);
    } else if (!(after->final == before->final)) {
      tally.broken = "a swap of independent steps changes the state";
      tally.example = text(ops, order);
    } else if (!in_error(*before) && ordered_pairs(*after, swapped, related) != pairs) {
      tally.broken = "a swap of independent steps changes the ordered pairs";
      tally.example = text(ops, order);
    }
  }
}

// Pending and happened: the same answer.
void check_meeting(const std::vector<Operation>& ops, const Order& order, const ObjectState& start, Tally& tally) {
  const std::optional<Run> whole = run(ops, order, start);
  if (!whole) return;
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    const Event& first = whole->events[i];
    const Event& second = whole->events[i + 1];
    const bool free_before = evaluate(second.op, first.before).enabled;
    const bool pending = !free_before || dependent(first, second.op);
    if (pending != dependent(first, second) && !in_error(*whole)) {
      tally.broken = "a pending step is judged otherwise than the same step taken";
      tally.example = text(ops, order);
    }
  }
}

template <class Visit>
void each_multiset(size_t kinds, size_t size, Order& chosen, Visit&& visit) {
  if (chosen.size() == size) {
    visit(chosen);
    return;
  }
  for (size_t next = chosen.empty() ? 0 : chosen.back(); next < kinds; ++next) {
    chosen.push_back(next);
    each_multiset(kinds, size, chosen, visit);
    chosen.pop_back();
  }
}

Tally check_domain(const Domain& domain, const Relation& related) {
  Tally tally;
  for (size_t size = 2; size <= 4; ++size) {
    Order chosen;
    each_multiset(domain.operations.size(), size, chosen, [&](const Order& multiset) {
      std::vector<Operation> ops;
      for (const size_t kind : multiset) ops.push_back(domain.operations[kind]);
      for (ObjectState start : domain.starts) {
        if (domain.all_alive) start.expected = threads_of(ops);
        for (size_t length = 2; length <= size; ++length) {
          Order order(size);
          for (size_t i = 0; i < size; ++i) order[i] = i;
          do {
            const Order prefix(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(length));
            check_swaps(ops, prefix, start, related, tally);
            check_meeting(ops, prefix, start, tally);
          } while (std::next_permutation(order.begin(), order.end()) && tally.broken.empty());
        }
      }
    });
  }
  return tally;
}

Relation the_relation() {
  return [](const Event& a, const Event& b) { return dependent(a, b); };
}

class ObjectLaw : public testing::TestWithParam<Domain> {};

TEST_P(ObjectLaw, SwapsOfIndependentStepsChangeNothing) {
  const Tally tally = check_domain(GetParam(), the_relation());
  EXPECT_EQ(tally.broken, "") << tally.example;
  EXPECT_GT(tally.swaps, 100U);
  RecordProperty("orders", std::to_string(tally.orders));
  RecordProperty("swaps", std::to_string(tally.swaps));
  std::printf("%s: %llu orders, %llu swaps\n", GetParam().name.c_str(), static_cast<unsigned long long>(tally.orders),
              static_cast<unsigned long long>(tally.swaps));
}

INSTANTIATE_TEST_SUITE_P(Domains, ObjectLaw, testing::Values(words(), mbarriers(), named_barriers()),
                         [](const auto& param) {
                           std::string name = param.param.name;
                           std::erase(name, ' ');
                           return name;
                         });

// The laws would find a wrong relation.
TEST(ObjectLawFaults, TwoStoresThatCommuteAreCaught) {
  const Relation wrong = [](const Event& a, const Event& b) {
    if (a.op.kind == OpKind::kStore && b.op.kind == OpKind::kStore) return false;
    return dependent(a, b);
  };
  EXPECT_EQ(check_domain(words(), wrong).broken, "a swap of independent steps changes the state");
}

TEST(ObjectLawFaults, ALoneExpectThatCommutesIsCaught) {
  const Relation wrong = [](const Event& a, const Event& b) {
    const bool lone = a.op.kind == OpKind::kExpectTx || b.op.kind == OpKind::kExpectTx;
    if (lone && a.phase == b.phase && a.effect == Effect::kStep && b.effect == Effect::kStep) return false;
    return dependent(a, b);
  };
  EXPECT_NE(check_domain(mbarriers(), wrong).broken, "");
}

TEST(ObjectLawFaults, AParityWaitThatNothingClosesIsCaught) {
  const Relation wrong = [](const Event& a, const Event& b) {
    if (a.op.kind == OpKind::kWaitParity && b.effect == Effect::kStep && b.phase == a.phase) return false;
    return dependent(a, b);
  };
  EXPECT_NE(check_domain(mbarriers(), wrong).broken, "");
}

}  // namespace
}  // namespace warpcheck
