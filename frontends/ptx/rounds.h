// Loops of a block that only wait: one thread polls a word, the others learn of it behind a barrier, and all go round
// again. A poll that would come back to where it was waits for its word to change, as in a loop of one thread (see Poll);
// here the others must come back to where they were, too.
//
// A *visit* is an arrival at a barrier of the block or at a rendezvous of the warp. It is steady when the fragment came
// there last time with the same registers, the same lanes, and has had no effect since: no visible operation but steady
// visits and polls, no store that changed a byte.
#pragma once

#include "frontends/ptx/cfg.h"
#include "frontends/ptx/interpreter.h"

namespace warpcheck::ptx {

// The fragment arrives at fragment.object.
void note_visit(Interpreter& interpreter, Fragment& fragment, const Code& code);

// Whether all that the fragment has visited since its last poll, and all who visited that, went round without effect.
// kSeveralWords: but they polled more than the word at this address, and a change of any other would let them go on as well.
enum class Rounds : uint8_t { kUnsteady, kSteady, kSeveralWords };
Rounds rounds(Interpreter& interpreter, const Fragment& fragment, uint64_t address);

// A digest of the registers that matter at the instruction, for these lanes.
uint64_t digest_of(const Fragment& fragment, const Code& code, LaneMask lanes);

// Marks the barriers that stand in a loop with a poll.
void find_rounds(const ControlFlow& flow, Kernel& kernel, const std::vector<std::vector<uint32_t>>& live);

}  // namespace warpcheck::ptx
