#include "tests/explorer/random_program.h"

#include <fmt/format.h>

namespace warpcheck::toy {

namespace {

class Generator {
 public:
  Generator(Flavour flavour, uint64_t seed) : flavour_(flavour), random_(seed * kFlavours + static_cast<uint64_t>(flavour)) {}

  RandomProgram make() {
    RandomProgram result;
    const uint32_t threads = 2 + below(3);
    make_objects(result, threads);
    const uint32_t most = threads == 2 ? 4 : threads == 3 ? 3 : 2;
    for (uint32_t t = 0; t < threads; ++t) {
      std::vector<Instruction> instructions(1 + below(most));
      for (Instruction& instruction : instructions) instruction = make_instruction();
      if (named_ && chance(50)) instructions.push_back({leave(words_ + below(barriers_))});
      result.threads.push_back(instructions);
    }
    return result;
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> list) {
    return *(list.begin() + below(static_cast<uint32_t>(list.size())));
  }

  void make_objects(RandomProgram& result, uint32_t threads) {
    switch (flavour_) {
      case Flavour::kWords:
      case Flavour::kBytes:
      case Flavour::kWaits:
      case Flavour::kReductions:
        words_ = 1 + below(2);
        break;
      case Flavour::kBarriers:
      case Flavour::kTransactions:
      case Flavour::kNamed:
        barriers_ = chance(70) ? 1 : 2;
        words_ = chance(30) ? 1 : 0;
        break;
      case Flavour::kMixed:
        words_ = 1;
        barriers_ = 1;
        break;
    }
    named_ = flavour_ == Flavour::kNamed || (flavour_ == Flavour::kMixed && chance(30));
    for (uint32_t i = 0; i < words_; ++i) result.objects.push_back(word(chance(80) ? 0 : 1));
    for (int64_t& count : counts_) count = pick<int64_t>({0, 0, 2, 3});
    for (uint32_t i = 0; i < barriers_; ++i) {
      const int32_t count = static_cast<int32_t>(1 + below(3));
      result.objects.push_back(named_ ? named_barrier(static_cast<int32_t>(threads)) : mbarrier(count));
      if (flavour_ == Flavour::kBarriers && chance(10)) result.objects.back() = ObjectState{};
    }
  }

  Instruction make_instruction() {
    Instruction instruction;
    const uint32_t object = below(words_ + barriers_);
    instruction.op = object < words_ ? word_operation(object) : named_ ? named_operation(object) : barrier_operation(object);
    if (chance(12)) instruction.guard = pick({Guard::kIfZero, Guard::kIfNotZero, Guard::kIfChoice});
    if (instruction.op.kind == OpKind::kStore && chance(20)) instruction.adds_result = true;
    const bool may_issue = instruction.op.kind == OpKind::kCompleteTx || instruction.op.kind == OpKind::kReduce;
    if (may_issue && chance(30)) instruction.issues = true;
    if (chance(4)) instruction.op = choose(static_cast<uint16_t>(2 + below(2)));
    return instruction;
  }

  Operation word_operation(uint32_t object) {
    Operation op = plain_word_operation(object);
    if (flavour_ == Flavour::kBytes) {
      op.size = pick<uint8_t>({1, 4, 8});
      op.begin = static_cast<uint8_t>(op.size == 8 ? 0 : op.size * below(2));
    }
    return op;
  }

  Operation plain_word_operation(uint32_t object) {
    const uint64_t v = below(3);
    if (flavour_ == Flavour::kReductions && chance(60)) {
      return chance(70) ? reduce(object, pick({Rmw::kAdd, Rmw::kAdd, Rmw::kXor, Rmw::kMaxU}), 1 + below(2))
                        : random_wait(object);
    }
    if (flavour_ == Flavour::kWaits && chance(40)) return random_wait(object);
    switch (below(9)) {
      case 0:
      case 1: return load(object);
      case 2:
      case 3: return store(object, v);
      case 4:
      case 5: return cas(object, v, below(3));
      case 6: return update(object, pick({Rmw::kAdd, Rmw::kExchange, Rmw::kMaxU, Rmw::kOr}), v);
      case 7: return reduce(object, pick({Rmw::kAdd, Rmw::kMaxU}), v);
      default: return random_wait(object);
    }
  }

  Operation random_wait(uint32_t object) {
    const Predicate predicate = pick<Predicate>({equal, not_equal, at_least, odd});
    switch (below(4)) {
      case 0: return with_predicate(update(object, Rmw::kExchange, below(3)), predicate, below(3));
      case 1: return with_predicate(update(object, Rmw::kAdd, 1 + below(2)), predicate, below(3));
      default: return await(object, predicate, below(3));
    }
  }

  Operation barrier_operation(uint32_t object) {
    const bool tx = flavour_ == Flavour::kTransactions;
    switch (below(tx ? 10 : 8)) {
      case 0:
      case 1:
      case 2: {
        Operation op = arrive(object, 1 + (chance(20) ? 1 : 0), tx && chance(50) ? 16 : 0);
        if (chance(8)) op.drop = true;
        if (op.operand > 1 && !op.drop && chance(40)) op.splits = true;
        return op;
      }
      case 3:
      case 4: return wait_parity(object, below(2));
      case 5: return wait_phase(object, below(2));
      case 6: return arrive(object);
      case 7: return chance(20) ? init(object, 1 + below(2)) : wait_parity(object, below(2));
      case 8: return chance(30) ? expect_tx(object, 16) : complete_tx(object, 16);
      default: return complete_tx(object, 16);
    }
  }

  Operation named_operation(uint32_t object) {
    if (chance(10)) return meet(object, 2);  // perhaps with another count than others
    switch (below(6)) {
      case 0:
      case 1:
      case 2:
      case 3: return meet(object, counts_[object]);
      case 4: return wait_phase(object, below(2));
      default: return wait_phase(object, 0);
    }
  }

  Flavour flavour_;
  std::mt19937_64 random_;
  uint32_t words_ = 0, barriers_ = 0;
  bool named_ = false;
  std::array<int64_t, 4> counts_{};  // of threads that meet at a named barrier, by object
};

bool holds(Guard guard, const Thread& t) {
  switch (guard) {
    case Guard::kNone: return true;
    case Guard::kIfZero: return t.result == 0;
    case Guard::kIfNotZero: return t.result != 0;
    case Guard::kIfChoice: return t.choice != 0;
  }
  return true;
}

// An arrival that split leaves the rest pending.
std::optional<Operation> rest_of(Thread& t) {
  if (t.last.kind != OpKind::kArrive || !t.last.splits || t.result >= t.last.operand) return std::nullopt;
  Operation rest = t.last;
  rest.operand -= t.result;
  rest.bytes = 0;
  return rest;
}

Script script(std::vector<Instruction> instructions) {
  return [instructions = std::move(instructions)](Thread& t) -> std::optional<Operation> {
    if (auto rest = rest_of(t)) return rest;
    while (t.pc < instructions.size()) {
      const Instruction& next = instructions[t.pc++];
      if (!holds(next.guard, t)) continue;
      Operation op = next.op;
      if (next.issues) {
        t.children.push_back({op});
        continue;
      }
      if (next.adds_result) op.operand += t.result;
      return op;
    }
    return std::nullopt;
  };
}

}  // namespace

const char* name(Flavour flavour) {
  switch (flavour) {
    case Flavour::kWords: return "words";
    case Flavour::kBytes: return "bytes";
    case Flavour::kWaits: return "waits";
    case Flavour::kReductions: return "reductions";
    case Flavour::kBarriers: return "barriers";
    case Flavour::kTransactions: return "transactions";
    case Flavour::kNamed: return "named barriers";
    case Flavour::kMixed: return "mixed";
  }
  return "";
}

RandomProgram random_program(Flavour flavour, uint64_t seed) { return Generator(flavour, seed).make(); }

ToyProgram RandomProgram::program() const {
  ToyProgram result;
  result.objects = objects;
  for (const std::vector<Instruction>& thread : threads) result.add(script(thread));
  return result;
}

std::string RandomProgram::to_string() const {
  static const char* const kGuards[] = {"", "if zero: ", "if not zero: ", "if choice: "};
  std::string text;
  for (size_t i = 0; i < objects.size(); ++i) {
    const ObjectState& o = objects[i];
    text += o.live ? fmt::format("x{}: barrier expected {} pending {}\n", i, o.expected, o.pending)
                   : fmt::format("x{}: word {} or no barrier\n", i, o.word[0]);
  }
  for (size_t t = 0; t < threads.size(); ++t) {
    text += fmt::format("T{}:\n", t);
    for (const Instruction& i : threads[t]) {
      text += fmt::format("  {}{}{}{}\n", kGuards[static_cast<size_t>(i.guard)], i.issues ? "issue " : "",
                          toy::to_string(i.op), i.adds_result ? " + result" : "");
    }
  }
  return text;
}

std::vector<RandomProgram> smaller(const RandomProgram& program) {
  std::vector<RandomProgram> result;
  const auto with = [&](auto change) {
    result.push_back(program);
    change(result.back());
  };
  for (size_t t = 0; t < program.threads.size(); ++t) {
    with([&](RandomProgram& p) { p.threads.erase(p.threads.begin() + static_cast<ptrdiff_t>(t)); });
  }
  for (size_t t = 0; t < program.threads.size(); ++t) {
    for (size_t i = 0; i < program.threads[t].size(); ++i) {
      const Instruction& instruction = program.threads[t][i];
      const auto with_changed = [&](auto change) { with([&](RandomProgram& p) { change(p.threads[t][i]); }); };
      with([&](RandomProgram& p) { p.threads[t].erase(p.threads[t].begin() + static_cast<ptrdiff_t>(i)); });
      if (instruction.guard != Guard::kNone) with_changed([](Instruction& x) { x.guard = Guard::kNone; });
      if (instruction.adds_result) with_changed([](Instruction& x) { x.adds_result = false; });
      if (instruction.issues) with_changed([](Instruction& x) { x.issues = false; });
      if (instruction.op.operand > 1) with_changed([](Instruction& x) { --x.op.operand; });
      if (instruction.op.splits) with_changed([](Instruction& x) { x.op.splits = false; });
      if (instruction.op.drop) with_changed([](Instruction& x) { x.op.drop = false; });
    }
  }
  return result;
}

}  // namespace warpcheck::toy
