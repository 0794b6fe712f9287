// GoogleMock matchers that make a kernel a unit test:
//
//   EXPECT_THAT(ring, Verified());
//   EXPECT_THAT(broken, HasRace("tile", Cause::kProxyFence));
//   EXPECT_THAT(stuck, Deadlocks());
//
// Each explores the kernel and on failure shows what was found. `Reading::kStrict` counts as violations what only the
// ISA's letter forbids, too.
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <utility>

#include "frontends/cpp/warpcheck.h"

namespace warpcheck {

enum class Reading : uint8_t { kDefault, kStrict };

inline void PrintTo(const Kernel& kernel, std::ostream* out) { *out << "kernel " << kernel.name(); }

namespace matchers {

inline ExploreOptions options(Reading reading) { return {.keep_going = true, .strict = reading == Reading::kStrict}; }

class VerifiedMatcher {
 public:
  using is_gtest_matcher = void;
  explicit VerifiedMatcher(ExploreOptions options) : options_(std::move(options)) {}

  bool MatchAndExplain(const Kernel& kernel, ::testing::MatchResultListener* listener) const {
    const CheckResult result = check(kernel, options_);
    *listener << "which is " << ::testing::PrintToString(result);
    return result.verified();
  }
  void DescribeTo(std::ostream* out) const { *out << "is verified"; }
  void DescribeNegationTo(std::ostream* out) const { *out << "is not verified"; }

 private:
  ExploreOptions options_;
};

class FindsMatcher {
 public:
  using is_gtest_matcher = void;
  FindsMatcher(FindingKind kind, std::string object, Cause cause, Reading reading)
      : kind_(kind), object_(std::move(object)), cause_(cause), reading_(reading) {}

  bool MatchAndExplain(const Kernel& kernel, ::testing::MatchResultListener* listener) const {
    const CheckResult result = check(kernel, options(reading_));
    *listener << "which is " << ::testing::PrintToString(result);
    for (const CheckFinding& finding : result.findings) {
      if (fits(finding)) return true;
    }
    return false;
  }
  void DescribeTo(std::ostream* out) const { describe(*out << "shows "); }
  void DescribeNegationTo(std::ostream* out) const { describe(*out << "does not show "); }

 private:
  bool fits(const CheckFinding& finding) const {
    return finding.kind == kind_ && (cause_ == Cause::kNone || finding.cause == cause_) &&
           (!finding.strict || reading_ == Reading::kStrict) &&
           (object_.empty() || finding.object.find(object_) != std::string::npos);
  }
  void describe(std::ostream& out) const {
    out << "a finding of kind " << name(kind_);
    if (!object_.empty()) out << " on " << object_;
    if (cause_ != Cause::kNone) out << " with cause '" << name(cause_) << "'";
  }

  FindingKind kind_;
  std::string object_;
  Cause cause_;
  Reading reading_;
};

class TracesMatcher {
 public:
  using is_gtest_matcher = void;
  explicit TracesMatcher(uint64_t count) : count_(count) {}

  bool MatchAndExplain(const Kernel& kernel, ::testing::MatchResultListener* listener) const {
    const CheckResult result = check(kernel);
    *listener << "which has " << result.executions << " and " << result.blocked << " blocked runs";
    return result.executions == count_ && result.blocked == 0;
  }
  void DescribeTo(std::ostream* out) const { *out << "has " << count_ << " traces"; }
  void DescribeNegationTo(std::ostream* out) const { *out << "has not " << count_ << " traces"; }

 private:
  uint64_t count_;
};

}  // namespace matchers

// Every interleaving was explored and none goes wrong.
inline matchers::VerifiedMatcher Verified(Reading reading = Reading::kDefault) {
  return matchers::VerifiedMatcher(matchers::options(reading));
}
inline matchers::VerifiedMatcher Verified(ExploreOptions options) {
  return matchers::VerifiedMatcher(std::move(options));
}

// Some execution shows a finding of the kind on an object whose name contains `object`.
inline matchers::FindsMatcher Finds(FindingKind kind, std::string object = "", Reading reading = Reading::kDefault) {
  return {kind, std::move(object), Cause::kNone, reading};
}
inline matchers::FindsMatcher HasRace(std::string object = "", Cause cause = Cause::kNone,
                                      Reading reading = Reading::kDefault) {
  return {FindingKind::kRace, std::move(object), cause, reading};
}
inline matchers::FindsMatcher Deadlocks() { return {FindingKind::kDeadlock, "", Cause::kNone, Reading::kDefault}; }
inline matchers::FindsMatcher FailsAssertion() {
  return {FindingKind::kAssertion, "", Cause::kNone, Reading::kDefault};
}

// The number of inequivalent executions.
inline matchers::TracesMatcher HasTraces(uint64_t count) { return matchers::TracesMatcher(count); }

}  // namespace warpcheck
