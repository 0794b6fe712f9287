// What instructions with visible operations have in common: one step for each object that the lanes touch, one after
// another; an instruction posts, and is called again when its operation has been taken.
#pragma once

#include "frontends/ptx/interpreter.h"

namespace warpcheck::ptx {

// The active lanes by the address that `operand` gives them, in order of the lowest lane.
std::vector<Group> groups_of(const Fragment& fragment, const AddressOperand& operand, MemorySpace space, LaneMask active);

// The address of a lane; shared ones have 32 bits.
uint64_t address_of(const Warp& warp, const AddressOperand& operand, MemorySpace space, uint32_t lane);

enum class Begin : uint8_t { kRun, kElsewhere, kGaveUp };

// First call of a visible instruction: the operands take effect, the lanes become a fragment of their own.
Begin begin_visible(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active);
inline Flow stopped(Begin begin) { return begin == Begin::kElsewhere ? Flow::kJump : Flow::kStop; }

// Takes the groups one after another: `step(group)` posts a group's operation and returns true, or returns false when it
// needs none; `done(group)` runs when that has been taken.
template <class Step, class Done>
Flow each_group(Fragment& fragment, Step&& step, Done&& done) {
  if (fragment.stage != 0) {
    done(fragment.groups[fragment.group]);
    ++fragment.group;
  }
  for (; fragment.group < fragment.groups.size(); ++fragment.group) {
    fragment.stage = 1;
    if (step(fragment.groups[fragment.group])) return Flow::kStop;
  }
  fragment.stage = 0;
  fragment.groups.clear();
  fragment.group = 0;
  return Flow::kNext;
}

// Makes the operation wait for its word to change if the fragment polls it (see Poll); to be called before the first
// operation of a strong load or atomic is posted, with the registers as they are. False: the run was given up.
bool wait_if_polling(Interpreter& interpreter, Fragment& fragment, const Code& code, const Group& group, Operation& op);
// The fragment has done something that others can see.
void end_poll(Interpreter& interpreter, Fragment& fragment);
// The operation has read `value`.
void remember_poll(Fragment& fragment, uint64_t value);

// The register has received what the word in `range` held before the fragment's last operation, with its tags.
void mark_word(Interpreter& interpreter, Fragment& fragment, const Code& code, uint32_t to, LaneMask lanes, Range range);

// Every lane alone, where lanes that share an object cannot act in one step.
void separate(std::vector<Group>& groups);

// Reports lanes whose address leads nowhere.
void report_unmapped(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask lanes, uint64_t address,
                     const char* role);

}  // namespace warpcheck::ptx
