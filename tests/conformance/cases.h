// The reference cases: 21 families of small kernels about asynchronous copies, proxies and barriers, 314 kernels in
// all, each with the verdict that is right in the strict reading.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontends/cpp/warpcheck.h"

namespace warpcheck::conformance {

struct Expected {
  std::optional<FindingKind> kind;  // none: verified
  std::string object;               // part of the object's name, where the case names one
  std::optional<Cause> cause;       // where the case names one

  static Expected verified() { return {}; }
  static Expected race(std::string object = "", std::optional<Cause> cause = {}) {
    return {FindingKind::kRace, std::move(object), cause};
  }
};

struct Case {
  int family = 0;
  std::string variant;  // "forked a c": the parameters that are true
  std::function<Kernel()> make;
  Expected expected;
};

std::vector<Case> one_thread_cases();  // families 1-3, 6-9, 12-15
std::vector<Case> two_thread_cases();  // families 4, 5, 10, 11, 21: as two warpgroups and as two warps of one
std::vector<Case> two_block_cases();   // families 16-20

std::vector<Case> all_cases();  // by family

// "" if right, else what was found instead.
std::string wrong(const Case& c);

}  // namespace warpcheck::conformance
