#include "tests/conformance/cases.h"

#include <algorithm>
#include <sstream>

namespace warpcheck::conformance {

std::vector<Case> all_cases() {
  std::vector<Case> all = one_thread_cases();
  for (auto* more : {&two_thread_cases, &two_block_cases}) {
    std::vector<Case> cases = more();
    std::move(cases.begin(), cases.end(), std::back_inserter(all));
  }
  std::stable_sort(all.begin(), all.end(), [](const Case& a, const Case& b) { return a.family < b.family; });
  return all;
}

std::string wrong(const Case& c) {
  const Kernel kernel = c.make();
  const CheckResult result = check(kernel, {.keep_going = true, .strict = true});
  const Expected& expected = c.expected;
  const auto fits = [&](const CheckFinding& finding) {
    return finding.kind == *expected.kind && finding.object.find(expected.object) != std::string::npos &&
           (!expected.cause || finding.cause == *expected.cause);
  };
  const bool right = expected.kind ? result.verdict == Verdict::kViolation &&
                                         std::any_of(result.findings.begin(), result.findings.end(), fits)
                                   : result.verified();
  if (right) return "";
  std::ostringstream text;
  text << "expected " << (expected.kind ? name(*expected.kind) : "verified");
  if (!expected.object.empty()) text << " on " << expected.object;
  if (expected.cause) text << " (" << name(*expected.cause) << ")";
  text << ", found " << result;
  return text.str();
}

}  // namespace warpcheck::conformance
