#include "frontends/ptx/spin.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace warpcheck::ptx {
namespace {

using Known = std::map<uint32_t, uint64_t>;  // registers whose value follows from the outcome of the test

constexpr size_t kLongestLoop = 4096;

bool is_arithmetic(const Instruction& i) {
  static constexpr std::array<std::string_view, 28> kNames = {
      "mov", "add", "sub", "mul", "mad", "setp", "selp", "and", "or", "xor", "not", "shl", "shr", "cvt", "cvta",
      "min", "max", "neg", "abs", "div", "rem", "bfe", "bfi", "prmt", "lop3", "shf", "nanosleep", "slct"};
  return std::find(kNames.begin(), kNames.end(), i.opcode[0]) != kNames.end();
}

class Spin {
 public:
  Spin(const Function& function, const ControlFlow& flow, uint32_t test)
      : function_(function), flow_(flow), test_(test), outcome_(function.instructions[test].operands[0].reg) {}

  bool only_waits() {
    if (!walk_failure(test_ + 1, {{outcome_, 0}})) return false;
    find_invariants();
    return success_reads_nothing_written();
  }

 private:
  const Instruction& at(uint32_t i) const { return function_.instructions[i]; }

  static std::optional<uint64_t> value(const Operand& operand, const Known& known) {
    if (operand.kind == OperandKind::kImmediate) return operand.value;
    const auto found = operand.kind == OperandKind::kRegister ? known.find(operand.reg) : known.end();
    if (found == known.end()) return std::nullopt;
    return operand.negated ? (found->second == 0 ? 1U : 0U) : found->second;
  }

  static std::optional<uint64_t> result(const Instruction& i, const Known& known) {
    const auto& o = i.operands;
    if (i.opcode[0] == "mov" && o.size() == 2) return value(o[1], known);
    if (i.opcode[0] == "not" && o.size() == 2 && i.opcode.back() == "pred") {
      const auto v = value(o[1], known);
      return v ? std::optional<uint64_t>(*v == 0 ? 1 : 0) : std::nullopt;
    }
    if (i.opcode[0] == "selp" && o.size() == 4) {
      const auto which = value(o[3], known);
      return which ? value(o[*which != 0 ? 1 : 2], known) : std::nullopt;
    }
    if (i.opcode[0] == "setp" && o.size() == 3 && i.opcode.size() == 3) {
      const auto a = value(o[1], known), b = value(o[2], known);
      if (!a || !b) return std::nullopt;
      if (i.opcode[1] == "eq") return *a == *b ? 1 : 0;
      if (i.opcode[1] == "ne") return *a != *b ? 1 : 0;
    }
    if ((i.opcode[0] == "and" || i.opcode[0] == "cvt") && o.size() >= 2) {
      const auto a = value(o[1], known);
      if (a && *a <= 1 && (i.opcode[0] == "cvt" || (o.size() == 3 && value(o[2], known) == 1U))) return a;
    }
    return std::nullopt;
  }

  void learn(const Instruction& i, uint32_t at, Known& known) const {
    const auto made = i.predicate == kNone ? result(i, known) : std::nullopt;
    for (const uint32_t r : flow_.writes(at)) known.erase(r);
    if (made && i.operands[0].kind == OperandKind::kRegister) known[i.operands[0].reg] = *made;
  }

  // Which way a branch goes: nullopt when the outcome does not say.
  static std::optional<bool> taken(const Instruction& i, const Known& known) {
    if (i.predicate == kNone) return true;
    const auto found = known.find(i.predicate);
    if (found == known.end()) return std::nullopt;
    return (found->second != 0) != i.predicate_negated;
  }

  // Every path from `i` must lead back to the test, without effect.
  bool walk_failure(uint32_t i, Known known) {
    while (i != test_) {
      if (i >= function_.instructions.size() || ++steps_ > kLongestLoop) return false;
      const Instruction& instruction = at(i);
      if (instruction.opcode[0] == "bra") {
        const auto way = taken(instruction, known);
        if (!way) {
          if (!branches_.emplace(i, known).second) return true;  // this way was walked before, knowing the same
          if (!walk_failure(instruction.operands[0].target, known)) return false;
          ++i;
        } else {
          i = *way ? instruction.operands[0].target : i + 1;
        }
        continue;
      }
      if (!is_arithmetic(instruction)) return false;
      learn(instruction, i, known);
      for (const uint32_t r : flow_.writes(i)) writers_[r].insert(i);
      ++i;
    }
    return true;
  }

  // Registers that the loop writes with the same value each time, before the test, in one stretch with it.
  void find_invariants() {
    uint32_t first = test_;
    while (first > 0 && is_arithmetic(at(first - 1)) && !is_target(first)) --first;
    for (uint32_t i = first; i < test_; ++i) {
      const bool same = at(i).predicate == kNone && std::all_of(flow_.reads(i).begin(), flow_.reads(i).end(), [&](uint32_t r) {
                          return !writers_.contains(r) || invariant_.contains(r);
                        });
      for (const uint32_t r : flow_.writes(i)) {
        const auto writers = writers_.find(r);
        if (same && !reads_special(at(i)) && writers != writers_.end() && writers->second == std::set<uint32_t>{i}) invariant_.insert(r);
      }
    }
  }

  bool is_target(uint32_t i) const {
    for (const Instruction& instruction : function_.instructions) {
      for (const Operand& operand : instruction.operands) {
        if (operand.kind == OperandKind::kLabel && operand.target == i) return true;
      }
    }
    return false;
  }

  static bool reads_special(const Instruction& i) {
    return std::any_of(i.operands.begin(), i.operands.end(),
                       [](const Operand& o) { return o.kind == OperandKind::kName && o.name.starts_with('%'); });
  }

  bool success_reads_nothing_written() const {
    std::set<uint32_t> fresh = {outcome_};
    const auto changed = [&](uint32_t r) { return writers_.contains(r) && !invariant_.contains(r) && !fresh.contains(r); };
    // A test of something else each time round is no wait for one barrier.
    if (std::any_of(flow_.reads(test_).begin(), flow_.reads(test_).end(), changed)) return false;
    Known known = {{outcome_, 1}};
    uint32_t i = test_ + 1;
    for (size_t steps = 0; i < function_.instructions.size() && steps < kLongestLoop; ++steps) {
      const Instruction& instruction = at(i);
      if (std::any_of(flow_.reads(i).begin(), flow_.reads(i).end(), changed)) return false;
      if (instruction.opcode[0] == "bra") {
        const auto way = taken(instruction, known);
        if (!way) break;
        i = *way ? instruction.operands[0].target : i + 1;
        continue;
      }
      if (!is_arithmetic(instruction)) break;
      learn(instruction, i, known);
      if (instruction.predicate == kNone) fresh.insert(flow_.writes(i).begin(), flow_.writes(i).end());
      ++i;
    }
    return std::none_of(writers_.begin(), writers_.end(),
                        [&](const auto& entry) { return changed(entry.first) && flow_.live_before(i, entry.first); });
  }

  const Function& function_;
  const ControlFlow& flow_;
  const uint32_t test_, outcome_;
  size_t steps_ = 0;
  std::set<std::pair<uint32_t, Known>> branches_;
  std::map<uint32_t, std::set<uint32_t>> writers_;  // register -> instructions of the loop that write it
  std::set<uint32_t> invariant_;
};

}  // namespace

bool only_waits(const Function& function, const ControlFlow& flow, uint32_t test) {
  const Operand& outcome = function.instructions[test].operands[0];
  return outcome.kind == OperandKind::kRegister && Spin(function, flow, test).only_waits();
}

}  // namespace warpcheck::ptx
