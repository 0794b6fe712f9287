// The command under test and the kernels that it is given.
#pragma once

#include <string>
#include <vector>

#include "tests/support/command.h"

namespace warpcheck::testing {

inline const std::string kExamples = WARPCHECK_EXAMPLES;
inline const std::string kRight = kExamples + "/ring/ring.toml";
inline const std::string kBroken = kExamples + "/ring/ring_broken.toml";

inline Outcome warpcheck(const std::vector<std::string>& arguments, const Folder& folder, int interrupt_after = 0) {
  return run(WARPCHECK_COMMAND, arguments, folder.path(), interrupt_after);
}

}  // namespace warpcheck::testing
