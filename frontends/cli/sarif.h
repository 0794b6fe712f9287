// SARIF 2.1.0 (OASIS), the format of code scanning: a rule a kind of finding, the first place as the location, the others
// as related locations. What a baseline accepts is a suppressed result, an incomplete search a notification.
#pragma once

#include <string>
#include <vector>

#include "frontends/cli/outcome.h"

namespace warpcheck::cli {

// Paths below `root` are written relative to it.
std::string sarif_text(const std::vector<LaunchOutcome>& outcomes, const std::string& root);

}  // namespace warpcheck::cli
