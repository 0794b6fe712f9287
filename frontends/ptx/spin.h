// Loops that only wait: a test of a barrier whose failure leads back to the test and changes nothing that matters.
//
// Such a test is run as a blocking wait, so that spinning costs no executions. Whether it is one is decided on the text:
// from the failing outcome every path must return to the test through arithmetic, branches, clocks and sleeps alone, and
// no register written on the way may be read by the test or after it has succeeded, unless it was written again with the
// same value.
#pragma once

#include "frontends/ptx/cfg.h"

namespace warpcheck::ptx {

// `test` is an instruction whose first operand is the predicate register that says whether it succeeded.
bool only_waits(const Function& function, const ControlFlow& flow, uint32_t test);

}  // namespace warpcheck::ptx
