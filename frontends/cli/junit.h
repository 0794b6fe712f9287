// JUnit XML, as continuous integration reads it: a test case a launch. A violation is a failure with the report; an
// incomplete search is an error, never `skipped`, which would look green. What a baseline accepts is told in system-out.
#pragma once

#include <string>
#include <vector>

#include "frontends/cli/outcome.h"

namespace warpcheck::cli {

std::string junit_xml(const std::vector<LaunchOutcome>& outcomes);

}  // namespace warpcheck::cli
