#include "tests/explorer/toy.h"

#include <fmt/format.h>

#include <map>

#include "model/check.h"

namespace warpcheck::toy {

namespace {

// What an agent knows of parity waits: for each barrier those made in the latest phase of which it knows any.
struct Known {
  uint32_t phase = 0;
  uint64_t waits = 0;

  void join(const Known& other) {
    if (other.waits == 0 || other.phase < phase) return;
    if (other.phase > phase) waits = 0;
    phase = other.phase;
    waits |= other.waits;
  }
};
using Knowledge = std::map<uint32_t, Known>;

void join(Knowledge& into, const Knowledge& from) {
  for (const auto& [object, known] : from) into[object].join(known);
}

bool observes(Effect effect, const Operation& op) {
  return effect == Effect::kWait || (effect == Effect::kRead) || op.kind == OpKind::kUpdate;
}

class ToyMachine final : public Machine {
 public:
  explicit ToyMachine(const ToyProgram& program) : program_(program) {
    for (uint32_t t = 0; t < program.threads.size(); ++t) agent({t, 0, 0});
  }

  void reset() override {
    objects_ = program_.objects;
    plain_.assign(program_.plain, 0);
    left_.assign(objects_.size(), {});
    born_.clear();
    agents_.clear();
    changed_.clear();
    findings_.clear();
    steps_ = 0;
    for (Transition& transition : pending_) transition = {};
    for (uint32_t t = 0; t < program_.threads.size(); ++t) {
      bear(AgentId{t});
      state(AgentId{t}).thread.r[7] = t;
      advance(AgentId{t});
    }
    changed_ = born_;
  }

  std::span<const AgentId> agents() const override { return agents_; }
  const Transition& pending(AgentId agent) const override { return pending_[index(agent)]; }
  std::span<const AgentId> changed() const override { return changed_; }
  std::span<const AgentId> born() const override { return born_; }
  std::span<const Finding> findings() const override { return findings_; }
  void set_checking(bool) override {}
  void set_recording(bool on) override { recording_on_ = on; }
  const std::vector<RecordedEvent>& recording() const override { return recording_; }
  AgentKey key(AgentId agent) const override { return keys_[index(agent)]; }
  std::string name(AgentId agent) const override {
    const AgentKey key = keys_[index(agent)];
    return key.ordinal == 0 ? fmt::format("T{}", key.thread) : fmt::format("T{}.{}", key.thread, key.ordinal);
  }
  std::string name(ObjectId object) const override { return fmt::format("x{}", index(object)); }
  std::string describe(AgentId, const Operation& op) const override { return to_string(op); }
  SiteId site_of(AgentId agent) const override { return SiteId{index(agent)}; }
  const std::vector<bool>& reached() const override { return reached_; }

  AgentId agent(const AgentKey& key) override {
    for (uint32_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] == key) return AgentId{i};
    }
    keys_.push_back(key);
    states_.emplace_back();
    pending_.emplace_back();
    return AgentId{static_cast<uint32_t>(keys_.size() - 1)};
  }

  const Event& step(AgentId agent, uint16_t choice) override {
    changed_.clear();
    born_.clear();
    CHECK(pending_[index(agent)].status == Transition::Status::kEnabled);
    const Operation op = pending_[index(agent)].op;
    CHECK(choice < op.choices);
    act(agent, op, choice);
    advance(agent);
    for (AgentId other : agents_) {
      if (other != agent && may_block(pending(other).op) && pending(other).op.object == op.object) refresh(other);
    }
    ++steps_;
    return event_;
  }

  void finish() override {
    for (AgentId agent : agents_) {
      if (pending(agent).status == Transition::Status::kBlocked) report(FindingKind::kDeadlock, agent);
    }
  }

  uint64_t fingerprint() const override {
    uint64_t hash = 1469598103934665603U;
    const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211U; };
    for (const ObjectState& o : objects_) {
      mix(o.word[0]);
      mix(o.word[1]);
      mix(o.phase);
      mix(static_cast<uint64_t>(o.pending));
      mix(static_cast<uint64_t>(o.expected));
      mix(static_cast<uint64_t>(o.tx));
    }
    for (uint32_t t = 0; t < program_.threads.size(); ++t) {
      mix(states_[t].thread.result);
      mix(states_[t].thread.pc);
      for (uint64_t r : states_[t].thread.r) mix(r);
    }
    return hash;
  }

 private:
  struct AgentState {
    Thread thread;
    std::vector<Operation> rest;  // of an asynchronous operation
    uint32_t ordinal = 0, issued = 0;
    Knowledge knows;
  };

  AgentState& state(AgentId agent) { return states_[index(agent)]; }

  void bear(AgentId agent) {
    state(agent) = {};
    state(agent).thread.plain = &plain_;
    agents_.push_back(agent);
    born_.push_back(agent);
  }

  void act(AgentId agent, const Operation& op, uint16_t choice) {
    AgentState& self = state(agent);
    const ObjectState before = op.object == kNoObject ? ObjectState{} : objects_[index(op.object)];
    const Outcome outcome = evaluate(op, before);
    CHECK(outcome.enabled);
    event_ = predicted(agent, op, before, outcome);
    event_.choice = choice;
    event_.ordinal = self.ordinal++;
    if (op.object != kNoObject) {
      objects_[index(op.object)] = outcome.after;
      pass_knowledge(self.knows, outcome, op);
    }
    self.thread.last = op;
    self.thread.result = op.kind == OpKind::kReduce ? 0 : outcome.result;
    self.thread.choice = choice;
  }

  // Each phase of a barrier, and each word, passes on what its steps and writes left there.
  void pass_knowledge(Knowledge& knows, const Outcome& outcome, const Operation& op) {
    std::vector<Knowledge>& left = left_[index(op.object)];
    const bool barrier = outcome.effect == Effect::kStep || outcome.effect == Effect::kWait;
    if (outcome.effect == Effect::kWait) {
      for (size_t p = 0; p < std::min<size_t>(outcome.phase, left.size()); ++p) join(knows, left[p]);
      if (op.kind == OpKind::kWaitParity) knows[index(op.object)].join({outcome.phase, op.waiter_bit});
      return;
    }
    const size_t slot = barrier ? outcome.phase : 0;
    if (left.size() <= slot) left.resize(slot + 1);
    if (!barrier && observes(outcome.effect, op)) join(knows, left[slot]);
    if (outcome.effect != Effect::kRead) join(left[slot], knows);
  }

  void advance(AgentId agent) {
    AgentState& self = state(agent);
    Transition& next = pending_[index(agent)];
    std::optional<Operation> op;
    if (keys_[index(agent)].ordinal == 0) {
      if (!self.thread.failed) op = program_.threads[index(agent)](self.thread);
      if (self.thread.failed) report(FindingKind::kAssertion, agent);
      if (self.thread.failed) op.reset();
    } else if (!self.rest.empty()) {
      op = self.rest.front();
      self.rest.erase(self.rest.begin());
    }
    next = {};
    if (op) next.op = *op;
    if (op && (op->kind == OpKind::kWaitParity)) next.op.waiter_bit = uint64_t{1} << index(agent);
    const bool passes = op && (op->kind == OpKind::kArrive || op->kind == OpKind::kWaitParity);
    if (passes && state(agent).knows.contains(index(op->object))) {
      const Known& known = state(agent).knows[index(op->object)];
      next.op.covers = known.waits;
      next.op.covers_phase = known.phase;
    }
    next.status = op ? status_of(next.op) : Transition::Status::kFinished;
    changed_.push_back(agent);
    issue(agent);
  }

  void issue(AgentId issuer) {
    std::vector<std::vector<Operation>> children;
    children.swap(state(issuer).thread.children);
    for (std::vector<Operation>& child : children) {
      const AgentKey key{keys_[index(issuer)].thread, ++state(issuer).issued, 0};
      const AgentId id = agent(key);
      bear(id);
      state(id).rest = std::move(child);
      advance(id);
    }
  }

  Transition::Status status_of(const Operation& op) const {
    if (op.object == kNoObject || evaluate(op, objects_[index(op.object)]).enabled) return Transition::Status::kEnabled;
    return Transition::Status::kBlocked;
  }

  void refresh(AgentId agent) {
    Transition& transition = pending_[index(agent)];
    if (transition.status == Transition::Status::kFinished) return;
    const Transition::Status status = status_of(transition.op);
    if (status != transition.status) changed_.push_back(agent);
    transition.status = status;
  }

  void report(FindingKind kind, AgentId agent) {
    Finding finding;
    finding.kind = kind;
    finding.sites.push_back({name(agent), "", SiteId{index(agent)}, agent, steps_});
    findings_.push_back(finding);
  }

  const ToyProgram& program_;
  std::vector<AgentKey> keys_;
  std::vector<AgentState> states_;
  std::vector<Transition> pending_;
  std::vector<ObjectState> objects_;
  std::vector<uint64_t> plain_;
  std::vector<std::vector<Knowledge>> left_;
  std::vector<AgentId> agents_, born_, changed_;
  std::vector<Finding> findings_;
  std::vector<RecordedEvent> recording_;
  std::vector<bool> reached_;
  bool recording_on_ = false;
  uint32_t steps_ = 0;
  Event event_;
};

Operation on(uint32_t object, OpKind kind, uint64_t operand) {
  Operation op;
  op.kind = kind;
  op.object = ObjectId{object};
  op.operand = operand;
  return op;
}

Operation on_word(uint32_t object, OpKind kind, Rmw rmw, uint64_t operand) {
  Operation op = on(object, kind, operand);
  op.rmw = rmw;
  op.size = 8;
  return op;
}

}  // namespace

std::unique_ptr<Machine> ToyProgram::make_machine() const { return std::make_unique<ToyMachine>(*this); }

Operation load(uint32_t object) { return on_word(object, OpKind::kLoad, Rmw::kNone, 0); }
Operation await(uint32_t object, Predicate predicate, uint64_t value) {
  return with_predicate(load(object), predicate, value);
}
Operation store(uint32_t object, uint64_t value) { return on_word(object, OpKind::kStore, Rmw::kNone, value); }
Operation update(uint32_t object, Rmw rmw, uint64_t value) { return on_word(object, OpKind::kUpdate, rmw, value); }
Operation cas(uint32_t object, uint64_t expected, uint64_t value) {
  Operation op = update(object, Rmw::kCompareSwap, value);
  op.compare = expected;
  return op;
}
Operation reduce(uint32_t object, Rmw rmw, uint64_t value) { return on_word(object, OpKind::kReduce, rmw, value); }
Operation with_predicate(Operation op, Predicate predicate, uint64_t value) {
  op.predicate = predicate;
  op.predicate_operand = value;
  return op;
}
Operation choose(uint16_t choices) {
  Operation op;
  op.choices = choices;
  return op;
}
Operation init(uint32_t object, uint64_t expected) { return on(object, OpKind::kBarrierInit, expected); }
Operation arrive(uint32_t object, uint64_t count, int64_t expect_tx) {
  Operation op = on(object, OpKind::kArrive, count);
  op.bytes = expect_tx;
  return op;
}
Operation expect_tx(uint32_t object, int64_t bytes) {
  Operation op = on(object, OpKind::kExpectTx, 0);
  op.bytes = bytes;
  return op;
}
Operation complete_tx(uint32_t object, int64_t bytes) {
  Operation op = on(object, OpKind::kCompleteTx, 0);
  op.bytes = bytes;
  return op;
}
Operation wait_phase(uint32_t object, uint64_t phase) { return on(object, OpKind::kWaitPhase, phase); }
Operation wait_parity(uint32_t object, uint64_t parity) { return on(object, OpKind::kWaitParity, parity); }
Operation meet(uint32_t object, int64_t threads) {
  Operation op = on(object, OpKind::kBarrierArrive, 1);
  op.bytes = threads;
  return op;
}
Operation leave(uint32_t object) { return on(object, OpKind::kBarrierExit, 1); }

ObjectState word(uint64_t value) {
  ObjectState state;
  state.word[0] = value;
  return state;
}
ObjectState mbarrier(int32_t expected) {
  ObjectState state;
  state.pending = state.expected = expected;
  state.live = true;
  return state;
}
ObjectState named_barrier(int32_t alive) {
  ObjectState state;
  state.expected = alive;
  state.live = true;
  return state;
}

bool equal(uint64_t value, uint64_t operand) { return value == operand; }
bool not_equal(uint64_t value, uint64_t operand) { return value != operand; }
bool at_least(uint64_t value, uint64_t operand) { return value >= operand; }
bool odd(uint64_t value, uint64_t) { return (value & 1) != 0; }

std::string to_string(const Operation& op) {
  static const char* const kKinds[] = {"local",       "load",         "store",       "update",     "reduce",
                                       "plain load",  "plain store",  "init",        "inval",      "arrive",
                                       "expect_tx",   "complete_tx",  "wait_phase",  "wait_parity", "meet",
                                       "leave",       "read done",    "copy done",   "wait_read",  "wait_group"};
  static const char* const kRmws[] = {"",     "exch", "cas", "add", "mins", "minu", "maxs", "maxu",
                                      "and",  "or",   "xor", "inc", "dec",  "addf", "addd"};
  std::string text = kKinds[static_cast<size_t>(op.kind)];
  if (op.object != kNoObject) text += fmt::format(" x{}", index(op.object));
  if (op.rmw != Rmw::kNone) text += fmt::format(".{}", kRmws[static_cast<size_t>(op.rmw)]);
  if (op.size != 0 && op.size != 8) text += fmt::format(" bytes {}+{}", op.begin, op.size);
  if (op.kind == OpKind::kUpdate && op.rmw == Rmw::kCompareSwap) text += fmt::format(" {} ->", op.compare);
  text += fmt::format(" {}", op.operand);
  if (op.bytes != 0) text += fmt::format(" bytes {}", op.bytes);
  if (op.drop) text += " drop";
  if (op.splits) text += " splits";
  if (op.choices != 1) text += fmt::format(" choices {}", op.choices);
  if (op.predicate == equal) text += fmt::format(" when =={}", op.predicate_operand);
  if (op.predicate == not_equal) text += fmt::format(" when !={}", op.predicate_operand);
  if (op.predicate == at_least) text += fmt::format(" when >={}", op.predicate_operand);
  if (op.predicate == odd) text += " when odd";
  return text;
}

}  // namespace warpcheck::toy
