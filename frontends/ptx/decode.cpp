#include "frontends/ptx/decode.h"

#include <algorithm>
#include <bit>

#include "frontends/ptx/control.h"
#include "frontends/ptx/rounds.h"
#include "frontends/ptx/specials.h"
#include "model/machine.h"

namespace warpcheck::ptx {
namespace {

// Rows by base opcode, those with longer patterns first.
using Table = std::unordered_map<std::string_view, std::vector<Row>>;

std::string_view base_of(std::string_view pattern) { return pattern.substr(0, pattern.find('.')); }

Table make_table() {
  Table table;
  for (const auto rows : {integer_rows(), move_rows(), float_rows(), general_float_rows(), convert_rows(), opaque_float_rows(), memory_rows(), atomic_rows(), control_rows(), barrier_rows(),
                          mbarrier_rows(), warp_rows(), matrix_rows(), mma_rows(), async_rows(), tensor_rows(),
                          wgmma_rows(), tcgen05_rows(), tcgen05_move_rows()}) {
    for (const Row& row : rows) table[base_of(row.pattern)].push_back(row);
  }
  for (auto& [base, rows] : table) {
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.pattern.size() > b.pattern.size(); });
  }
  return table;
}

// How many parts of the opcode the pattern covers; 0: it does not fit.
size_t matched(std::string_view pattern, const Instruction& instruction) {
  size_t parts = 0;
  while (true) {
    const std::string_view part = base_of(pattern);
    if (parts == instruction.opcode.size() || instruction.opcode[parts] != part) return 0;
    ++parts;
    if (part.size() == pattern.size()) return parts;
    pattern.remove_prefix(part.size() + 1);
  }
}

const Table& table() {
  static const Table made = make_table();
  return made;
}

}  // namespace

bool Modifiers::take(std::string_view name) {
  const auto found = std::find(left_.begin(), left_.end(), name);
  if (found == left_.end()) return false;
  left_.erase(found);
  return true;
}

bool Modifiers::take_prefix(std::string_view prefix) {
  return std::erase_if(left_, [&](std::string_view name) { return name.starts_with(prefix); }) != 0;
}

bool Modifiers::has_type() const {
  return std::any_of(left_.begin(), left_.end(), [](std::string_view name) { return type_bytes(name) != 0; });
}

std::string_view Modifiers::take_type() {
  const auto found = std::find_if(left_.begin(), left_.end(), [](std::string_view name) { return type_bytes(name) != 0; });
  if (found == left_.end()) throw NotSupported();
  const std::string_view type = *found;
  left_.erase(found);
  return type;
}

void Modifiers::done() const {
  if (!left_.empty()) throw NotSupported();
}

Decoder::Decoder(const Module& module, const Function& function, const Symbols& symbols, Kernel& kernel)
    : module_(module), function_(function), symbols_(symbols), kernel_(kernel), flow_(function) {
  sink_ = static_cast<uint32_t>(function.registers.size());
  kernel_.slots = sink_ + 1;
}

void Decoder::run() {
  const auto count = static_cast<uint32_t>(function_.instructions.size());
  kernel_.code.resize(count + 1);
  kernel_.opcodes.resize(count + 1);
  for (at_ = 0; at_ < count; ++at_) {
    Code& code = kernel_.code[at_];
    code.site = SiteId{at_};
    kernel_.opcodes[at_] = opcode_text(instruction());
    if (instruction().predicate != kNone) {
      code.predicate = instruction().predicate;
      code.predicate_negated = instruction().predicate_negated;
    }
    decode(code);
  }
  std::vector<std::vector<uint32_t>> live(count);
  for (at_ = 0; at_ < count; ++at_) {
    if (kernel_.code[at_].meets) live[at_] = live_registers();
  }
  find_rounds(flow_, kernel_, live);
  kernel_.code[count].site = SiteId{count};
  kernel_.code[count].control = run_exit;  // who runs past the last instruction
  kernel_.opcodes[count] = "exit";
}

void Decoder::decode(Code& code) {
  const auto rows = table().find(instruction().opcode[0]);
  if (rows != table().end()) {
    for (const Row& row : rows->second) {
      const size_t parts = matched(row.pattern, instruction());
      if (parts == 0) continue;
      try {
        Code made = code;
        Modifiers modifiers(instruction(), parts);
        row.decode(*this, modifiers, made);
        modifiers.done();
        code = std::move(made);
        return;
      } catch (const NotSupported&) {
        continue;  // the row of another type may fit
      }
    }
  }
  code.control = run_unsupported;
}

const Operand& Decoder::operand(size_t i) const {
  if (i >= instruction().operands.size()) throw NotSupported();
  return instruction().operands[i];
}

Source Decoder::source(const Operand& operand, std::string_view type) {
  Source made;
  made.negated = operand.negated;
  switch (operand.kind) {
    case OperandKind::kRegister:
      if (operand.offset != 0) throw NotSupported();
      made.slot = operand.reg;
      return made;
    case OperandKind::kImmediate:
      made.value = operand.value;
      if (type == "f32" && operand.float_bytes == 8) {
        made.value = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(operand.value)));
      }
      if (type == "pred") made.value = operand.value != 0 ? 1 : 0;
      return made;
    case OperandKind::kName: {
      if (operand.name == "WARP_SZ") {
        made.value = 32;
        return made;
      }
      if (const auto special = special_register(operand.name)) {
        made.slot = slot_of(*special);
        return made;
      }
      const auto symbol = symbols_.find(operand.name);
      if (symbol != symbols_.end()) {
        made.value = symbol->second.address + static_cast<uint64_t>(operand.offset);
        return made;
      }
      for (const Function& function : module_.functions) {
        if (function.name == operand.name) throw NotSupported();
      }
      if (operand.name.starts_with("%envreg") || operand.name.starts_with("%pm")) throw NotSupported();
      throw InputError(module_.file, instruction().line,
                       "found " + std::string(operand.name) + ", expected a declared register or variable");
    }
    case OperandKind::kSink:
    case OperandKind::kLabel:
    case OperandKind::kTargets:
    case OperandKind::kAddress:
    case OperandKind::kVector:
    case OperandKind::kPair:
    case OperandKind::kList:
      throw NotSupported();
  }
  throw NotSupported();
}

uint32_t Decoder::destination(const Operand& operand) {
  if (operand.kind == OperandKind::kSink) return sink_;
  if (operand.kind != OperandKind::kRegister) throw NotSupported();
  return operand.reg;
}

AddressOperand Decoder::address(const Operand& operand) {
  if (operand.kind != OperandKind::kAddress || operand.parts.size() != 1) throw NotSupported();
  Operand base = operand.parts[0];
  AddressOperand made;
  made.offset = base.kind == OperandKind::kRegister ? base.offset : 0;
  if (base.kind == OperandKind::kRegister) base.offset = 0;
  made.base = source(base);
  return made;
}

MemorySpace Decoder::symbol_space(const Operand& operand) const {
  if (operand.parts.empty() || operand.parts[0].kind != OperandKind::kName) return MemorySpace::kGeneric;
  const auto symbol = symbols_.find(operand.parts[0].name);
  return symbol == symbols_.end() ? MemorySpace::kGeneric : symbol->second.space;
}

bool Decoder::result_dead(const Operand& operand) const {
  if (operand.kind == OperandKind::kSink) return true;
  return operand.kind == OperandKind::kRegister && !flow_.live_before(at_ + 1, operand.reg);
}

bool Decoder::may_go_unused() const {
  std::vector<uint32_t> values = flow_.writes(at_);
  const auto holds = [&](uint32_t reg) { return std::find(values.begin(), values.end(), reg) != values.end(); };
  for (uint32_t i = at_ + 1; i < flow_.block_end(at_); ++i) {
    const Instruction& next = function_.instructions[i];
    if (next.predicate != kNone && holds(next.predicate)) return false;
    const bool uses = std::any_of(flow_.reads(i).begin(), flow_.reads(i).end(), holds);
    if (!uses) continue;
    if (flow_.writes(i).empty() && next.predicate == kNone) return false;  // a store, a branch, ...
    if (next.opcode[0] == "ld" && next.predicate == kNone) return false;   // an address
    values.insert(values.end(), flow_.writes(i).begin(), flow_.writes(i).end());
  }
  return true;
}

std::vector<uint32_t> Decoder::live_registers() const {
  std::vector<uint32_t> made;
  for (uint32_t reg = 0; reg < function_.registers.size(); ++reg) {
    if (flow_.live_before(at_, reg)) made.push_back(reg);
  }
  return made;
}

void Decoder::use_countless_barrier(uint32_t id) {
  auto& ids = kernel_.countless_barriers;
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
}

uint32_t Decoder::slot_of(Special special) {
  for (const SpecialSlot& known : kernel_.specials) {
    if (known.special == special) return known.slot;
  }
  kernel_.specials.push_back({special, kernel_.slots});
  return kernel_.slots++;
}

}  // namespace warpcheck::ptx
