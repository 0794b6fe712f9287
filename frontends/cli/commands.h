// What the command `warpcheck` does. Each function returns the exit code: 0 verified, 1 violation, 2 bad input (by
// InputError, caught in run), 3 incomplete.
#pragma once

#include "frontends/cli/options.h"

namespace warpcheck::cli {

enum ExitCode : int { kExitVerified = 0, kExitViolation = 1, kExitBadInput = 2, kExitIncomplete = 3 };

int run(int argc, const char* const* argv);

int check(const CheckOptions& options);
int replay_counterexample(const ReplayOptions& options);
int draw_counterexample(const GraphOptions& options);

}  // namespace warpcheck::cli
