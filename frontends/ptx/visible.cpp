#include "frontends/ptx/visible.h"

#include "frontends/ptx/rounds.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpcheck::ptx {

uint64_t address_of(const Warp& warp, const AddressOperand& operand, MemorySpace space, uint32_t lane) {
  const uint64_t address = value_of(warp, operand.base, lane) + static_cast<uint64_t>(operand.offset);
  const bool is_shared = space == MemorySpace::kShared || space == MemorySpace::kSharedCluster;
  // LLVM widens shared addresses to 64 bits, hand-written code passes generic ones; those keep their window.
  return is_shared && (address >> 40) == 0 ? address & 0xffffffffU : address;
}

std::vector<Group> groups_of(const Fragment& fragment, const AddressOperand& operand, MemorySpace space, LaneMask active) {
  std::vector<Group> groups;
  each_lane(active, [&](uint32_t lane) {
    const uint64_t address = address_of(*fragment.warp, operand, space, lane);
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.address == address; });
    if (group == groups.end()) groups.push_back({address, 1U << lane});
    else group->lanes |= 1U << lane;
  });
  return groups;
}

Begin begin_visible(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  for (const AddressOperand& address : code.at) {
    if (!interpreter.takes_effect(fragment, code, address.base, active, "address")) return Begin::kGaveUp;
  }
  for (const Source& source : code.from) {
    if (!interpreter.takes_effect(fragment, code, source, active, "operand")) return Begin::kGaveUp;
  }
  return interpreter.isolate(fragment, active) ? Begin::kRun : Begin::kElsewhere;
}

namespace {

bool differs(uint64_t value, uint64_t last) { return value != last; }

}  // namespace

bool wait_if_polling(Interpreter& interpreter, Fragment& fragment, const Code& code, const Group& group, Operation& op) {
  const uint64_t registers = digest_of(fragment, code, group.lanes);
  Poll& poll = fragment.poll;
  if (poll.pc == index(code.site) && poll.address == group.address && poll.registers == registers && poll.effects == fragment.effects) {
    const Rounds made = rounds(interpreter, fragment, group.address);
    if (made == Rounds::kSeveralWords) {
      interpreter.unsupported(fragment, code, "a loop of a block that polls several words is not supported");
      return false;
    }
    if (made == Rounds::kSteady) {
      op.predicate = differs;
      op.predicate_operand = poll.value;
    }
  }
  poll = {index(code.site), group.address, registers, 0, fragment.effects, interpreter.next_stamp()};
  std::erase_if(fragment.polled, [&](const Polled& p) { return p.stamp < fragment.effects || p.address == group.address; });
  fragment.polled.push_back({group.address, poll.stamp});
  return true;
}

void end_poll(Interpreter& interpreter, Fragment& fragment) {
  fragment.poll.pc = kNone;
  fragment.effects = interpreter.next_stamp();
}

void remember_poll(Fragment& fragment, uint64_t value) { fragment.poll.value = value; }

void mark_word(Interpreter& interpreter, Fragment& fragment, const Code& code, uint32_t to, LaneMask lanes, Range range) {
  const uint8_t tags = interpreter.machine().last_outcome(fragment.thread).tags;
  const LaneMask uninitialized = (tags & kUninitializedTag) != 0 ? lanes : 0;
  mark(*fragment.warp, to, lanes, uninitialized, (tags & kOpaqueTag) != 0 ? lanes : 0, code.site);
  if (uninitialized == 0) return;
  interpreter.remember_uninitialized(fragment, code, range, static_cast<uint32_t>(__builtin_ctz(lanes)));
}

void separate(std::vector<Group>& groups) {
  std::vector<Group> alone;
  for (const Group& group : groups) {
    each_lane(group.lanes, [&](uint32_t lane) { alone.push_back({group.address, 1U << lane}); });
  }
  groups = std::move(alone);
}

void report_unmapped(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask lanes, uint64_t address,
                     const char* role) {
  interpreter.report(fragment, lanes, code, FindingKind::kOutOfBounds, role, fmt::format("address {:#x}", address),
                     fmt::format("{} at an address that belongs to no memory", interpreter.instruction(code.site)));
}

}  // namespace warpcheck::ptx
