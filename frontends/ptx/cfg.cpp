#include "frontends/ptx/cfg.h"

#include <algorithm>
#include <array>

namespace warpcheck::ptx {
namespace {

using std::string_view;

bool is(const Instruction& i, string_view base) { return i.opcode[0] == base; }
bool has(const Instruction& i, string_view modifier) {
  return std::find(i.opcode.begin() + 1, i.opcode.end(), modifier) != i.opcode.end();
}

// How many of the leading operands are written. Instructions without a result are listed; all others write the first.
uint32_t results(const Instruction& i) {
  static constexpr std::array<string_view, 26> kNone = {
      "st", "bra", "brx", "ret", "exit", "trap", "bar", "barrier", "membar", "fence", "red", "cp", "prefetch", "prefetchu",
      "nanosleep", "griddepcontrol", "setmaxnreg", "stmatrix", "brkpt", "pmevent", "multimem", "discard", "applypriority",
      "tensormap", "createpolicy_", "sust"};
  if (is(i, "barrier") || is(i, "bar")) return has(i, "red") ? 1 : 0;
  if (std::find(kNone.begin(), kNone.end(), i.opcode[0]) != kNone.end()) return 0;
  if (is(i, "mbarrier")) {
    if (has(i, "init") || has(i, "inval")) return 0;
    return !i.operands.empty() && i.operands[0].kind != OperandKind::kAddress ? 1 : 0;
  }
  if (is(i, "tcgen05")) return has(i, "ld") ? 1 : 0;
  return 1;
}

void collect(const Operand& operand, std::vector<uint32_t>& into) {
  if (operand.kind == OperandKind::kRegister) into.push_back(operand.reg);
  for (const Operand& part : operand.parts) collect(part, into);
}

}  // namespace

bool ends_thread(const Instruction& i) { return is(i, "ret") || is(i, "exit") || is(i, "trap"); }

ControlFlow::ControlFlow(const Function& function) : function_(function) {
  const auto count = static_cast<uint32_t>(function.instructions.size());
  reads_.resize(count);
  writes_.resize(count);
  for (uint32_t i = 0; i < count; ++i) classify(function.instructions[i], i);
  find_blocks();
  find_joins();
  find_liveness();
}

void ControlFlow::classify(const Instruction& instruction, uint32_t i) {
  const uint32_t written = results(instruction);
  if (instruction.predicate != kNone) reads_[i].push_back(instruction.predicate);
  for (uint32_t k = 0; k < instruction.operands.size(); ++k) {
    const Operand& operand = instruction.operands[k];
    // A call's results stand in a list, an address is read wherever it stands.
    const bool result = is(instruction, "call") ? k == 0 && operand.kind == OperandKind::kList
                                                : k < written && operand.kind != OperandKind::kAddress;
    collect(operand, result ? writes_[i] : reads_[i]);
    // wgmma accumulators are read and written.
    if (result && is(instruction, "wgmma")) collect(operand, reads_[i]);
  }
}

std::vector<uint32_t> ControlFlow::next(uint32_t i) const {
  const Instruction& instruction = function_.instructions[i];
  const bool always = instruction.predicate == kNone;
  if (ends_thread(instruction)) return always ? std::vector<uint32_t>{} : std::vector<uint32_t>{i + 1};
  std::vector<uint32_t> made;
  if (is(instruction, "bra") || is(instruction, "brx")) {
    for (const Operand& operand : instruction.operands) {
      if (operand.kind == OperandKind::kLabel) made.push_back(operand.target);
      if (operand.kind == OperandKind::kTargets) {
        const auto& list = function_.target_lists[operand.target];
        made.insert(made.end(), list.begin(), list.end());
      }
    }
    if (always) return made;
  }
  made.push_back(i + 1);
  return made;
}

void ControlFlow::find_blocks() {
  const auto count = static_cast<uint32_t>(function_.instructions.size());
  std::vector<bool> starts(count + 1, false);
  starts[0] = true;
  for (uint32_t i = 0; i < count; ++i) {
    const Instruction& instruction = function_.instructions[i];
    if (!is(instruction, "bra") && !is(instruction, "brx") && !ends_thread(instruction)) continue;
    starts[i + 1] = true;
    for (const uint32_t target : next(i)) starts[std::min(target, count)] = true;
  }
  block_of_.resize(count + 1);
  for (uint32_t i = 0; i < count; ++i) {
    if (starts[i]) blocks_.push_back({i, i, {}, {}});
    blocks_.back().end = i + 1;
    block_of_[i] = static_cast<uint32_t>(blocks_.size() - 1);
  }
  const auto exit = static_cast<uint32_t>(blocks_.size());
  block_of_[count] = exit;
  for (uint32_t b = 0; b < exit; ++b) {
    const uint32_t last = blocks_[b].end - 1;
    const Instruction& instruction = function_.instructions[last];
    for (const uint32_t target : next(last)) blocks_[b].next.push_back(block_of_[std::min(target, count)]);
    if (ends_thread(instruction)) blocks_[b].next.push_back(exit);
    std::sort(blocks_[b].next.begin(), blocks_[b].next.end());
    blocks_[b].next.erase(std::unique(blocks_[b].next.begin(), blocks_[b].next.end()), blocks_[b].next.end());
  }
  for (uint32_t b = 0; b < exit; ++b) {
    for (const uint32_t n : blocks_[b].next) {
      if (n != exit) blocks_[n].before.push_back(b);
    }
  }
}

// Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph. Blocks that cannot reach the end
// (endless loops) keep no post-dominator: lanes that part there never meet.
void ControlFlow::find_joins() {
  const auto exit = static_cast<uint32_t>(blocks_.size());
  std::vector<uint32_t> order;                 // reverse postorder from the exit over predecessors
  std::vector<uint32_t> number(exit + 1, kNone);
  std::vector<std::vector<uint32_t>> before(exit + 1);
  for (uint32_t b = 0; b < exit; ++b) {
    for (const uint32_t n : blocks_[b].next) before[n].push_back(b);
  }
  std::vector<std::pair<uint32_t, size_t>> stack = {{exit, 0}};
  std::vector<bool> seen(exit + 1, false);
  seen[exit] = true;
  while (!stack.empty()) {
    auto& [b, at] = stack.back();
    if (at < before[b].size()) {
      const uint32_t p = before[b][at++];
      if (!seen[p]) {
        seen[p] = true;
        stack.emplace_back(p, 0);
      }
    } else {
      order.push_back(b);
      stack.pop_back();
    }
  }
  std::reverse(order.begin(), order.end());
  for (uint32_t k = 0; k < order.size(); ++k) number[order[k]] = k;
  std::vector<uint32_t> idom(exit + 1, kNone);
  idom[exit] = exit;
  const auto intersect = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] > number[b]) a = idom[a];
      while (number[b] > number[a]) b = idom[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const uint32_t b : order) {
      if (b == exit) continue;
      uint32_t made = kNone;
      for (const uint32_t n : blocks_[b].next) {
        if (number[n] == kNone || idom[n] == kNone) continue;
        made = made == kNone ? n : intersect(made, n);
      }
      if (made != idom[b]) {
        idom[b] = made;
        changed = true;
      }
    }
  }
  post_dominator_ = std::move(idom);
}

// Tarjan's strongly connected components over the blocks.
std::vector<uint32_t> ControlFlow::cycles() const {
  const auto count = static_cast<uint32_t>(blocks_.size());
  std::vector<uint32_t> number(count, kNone), low(count, 0), component(count, kNone);
  std::vector<uint32_t> open;
  std::vector<std::pair<uint32_t, size_t>> stack;
  uint32_t next_number = 0, next_component = 0;
  for (uint32_t root = 0; root < count; ++root) {
    if (number[root] != kNone) continue;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      const uint32_t b = stack.back().first;
      if (stack.back().second == 0) {
        number[b] = low[b] = next_number++;
        open.push_back(b);
      }
      bool descended = false;
      while (stack.back().second < blocks_[b].next.size()) {
        const uint32_t n = blocks_[b].next[stack.back().second++];
        if (n == count) continue;
        if (number[n] == kNone) {
          stack.emplace_back(n, 0);
          descended = true;
          break;
        }
        if (component[n] == kNone) low[b] = std::min(low[b], number[n]);
      }
      if (descended) continue;
      if (low[b] == number[b]) {
        for (uint32_t member = kNone; member != b;) {
          member = open.back();
          open.pop_back();
          component[member] = next_component;
        }
        ++next_component;
      }
      stack.pop_back();
      if (!stack.empty()) low[stack.back().first] = std::min(low[stack.back().first], low[b]);
    }
  }
  std::vector<uint32_t> members(next_component, 0);
  for (const uint32_t c : component) ++members[c];
  std::vector<uint32_t> made(function_.instructions.size(), kNone);
  for (uint32_t b = 0; b < count; ++b) {
    const bool itself = std::find(blocks_[b].next.begin(), blocks_[b].next.end(), b) != blocks_[b].next.end();
    if (members[component[b]] < 2 && !itself) continue;
    for (uint32_t i = blocks_[b].first; i < blocks_[b].end; ++i) made[i] = component[b];
  }
  return made;
}

uint32_t ControlFlow::join(uint32_t i) const {
  const uint32_t b = post_dominator_[block_of_[i]];
  return b == kNone || b == blocks_.size() ? kNone : blocks_[b].first;
}

// Moves the set of live registers from behind instruction i to before it.
void ControlFlow::transfer(uint32_t i, std::vector<uint64_t>& live) const {
  if (function_.instructions[i].predicate == kNone) {
    for (const uint32_t r : writes_[i]) live[r / 64] &= ~(uint64_t{1} << (r % 64));
  }
  for (const uint32_t r : reads_[i]) live[r / 64] |= uint64_t{1} << (r % 64);
}

void ControlFlow::find_liveness() {
  const size_t words = function_.registers.size() / 64 + 1;
  live_out_.assign(blocks_.size(), std::vector<uint64_t>(words, 0));
  std::vector<uint32_t> work;
  std::vector<bool> queued(blocks_.size(), true);
  for (uint32_t b = 0; b < blocks_.size(); ++b) work.push_back(b);
  while (!work.empty()) {
    const uint32_t b = work.back();
    work.pop_back();
    queued[b] = false;
    std::vector<uint64_t> live = live_out_[b];
    for (uint32_t i = blocks_[b].end; i-- > blocks_[b].first;) transfer(i, live);
    for (const uint32_t p : blocks_[b].before) {
      bool grew = false;
      for (size_t w = 0; w < words; ++w) {
        grew |= (live[w] & ~live_out_[p][w]) != 0;
        live_out_[p][w] |= live[w];
      }
      if (grew && !queued[p]) {
        queued[p] = true;
        work.push_back(p);
      }
    }
  }
}

bool ControlFlow::live_before(uint32_t i, uint32_t reg) const {
  if (i >= function_.instructions.size()) return false;
  const uint32_t b = block_of_[i];
  for (uint32_t k = i; k < blocks_[b].end; ++k) {
    if (std::find(reads_[k].begin(), reads_[k].end(), reg) != reads_[k].end()) return true;
    if (function_.instructions[k].predicate != kNone) continue;
    if (std::find(writes_[k].begin(), writes_[k].end(), reg) != writes_[k].end()) return false;
  }
  return (live_out_[b][reg / 64] >> (reg % 64) & 1) != 0;
}

}  // namespace warpcheck::ptx
