// Clusters explored apart give the verdict and the findings of the whole, and counts that add where the whole's multiply.
#include "explorer/apart.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <sstream>

#include "frontends/cpp/warpcheck.h"

namespace warpcheck {
namespace {

CheckResult apart(const Kernel& kernel) { return check(kernel, {.keep_going = true, .exact_counts = false}); }

TEST(Apart, CountsAddInsteadOfMultiplying) {
  Kernel kernel("histogram a block", {.blocks = 3});
  const auto counts = kernel.global_atomics<int>("counts", 3, zeros);
  kernel.threads(3, [=](Thread& t) { t.fetch_add(counts[t.block()], 1); });
  EXPECT_EQ(check(kernel).executions, 6U * 6 * 6);
  const CheckResult result = apart(kernel);
  EXPECT_TRUE(result.verified());
  EXPECT_EQ(result.executions, 6U + 6 + 6);
  ASSERT_EQ(result.merged.size(), 1U);
}

TEST(Apart, ThoseThatMeetStayTogether) {
  Kernel kernel("two of three meet", {.blocks = 3});
  const auto counts = kernel.global_atomics<int>("counts", 2, zeros);
  kernel.threads(2, [=](Thread& t) { t.fetch_add(counts[t.block() / 2], 1); });
  EXPECT_EQ(apart(kernel).executions, 24U + 2);
}

// The second block reaches for the first one's word in some of its own executions only, and never in the first one tried.
TEST(Apart, MeetingsInOneExecutionAreFound) {
  Kernel kernel("meets by chance", {.blocks = 2});
  const auto order = kernel.shared_atomic<int>("order", 0);
  const auto data = kernel.global<int>("data", 1, zeros);
  kernel.threads(2, [=](Thread& t) {
    const bool other_way_round = t.fetch_add(order, 1) == 0 && t.rank() == 1;
    if (t.block() == 0 ? t.rank() == 0 : other_way_round) t.store(data[0], static_cast<int>(t.block()) + 1);
  });
  const CheckResult result = apart(kernel);
  EXPECT_EQ(result.verdict, Verdict::kViolation);
  EXPECT_TRUE(result.merged.empty());
}

TEST(Apart, AWaitForAnotherBlockIsNoDeadlock) {
  Kernel kernel("flag", {.blocks = 2});
  const auto flag = kernel.global_atomic<int>("flag", 0);
  kernel.threads(1, [=](Thread& t) {
    if (t.block() == 0) t.await(flag, std::equal_to{}, 1);
    if (t.block() == 1) t.store(flag, 1);
  });
  EXPECT_TRUE(apart(kernel).verified());
}

TEST(Apart, EachBlockWritesItsShareOfTheResult) {
  Kernel kernel("shares", {.blocks = 2});
  const auto out = kernel.global<int>("out", 2, zeros);
  kernel.expect(out, {1, 2});
  kernel.threads(1, [=](Thread& t) { t.store(out[t.block()], static_cast<int>(t.block()) + 1); });
  const CheckResult result = apart(kernel);
  EXPECT_TRUE(result.verified());
  EXPECT_EQ(result.merged.size(), 1U);
}

TEST(Apart, AShareThatIsSometimesMissingIsAWrongResult) {
  Kernel kernel("sometimes missing", {.blocks = 2});
  const auto order = kernel.shared_atomic<int>("order", 0);
  const auto out = kernel.global<int>("out", 2, zeros);
  kernel.expect(out, {1, 1});
  kernel.threads(2, [=](Thread& t) {
    const bool first = t.fetch_add(order, 1) == 0;
    if (t.rank() == 0 && (first || t.block() == 0)) t.store(out[t.block()], 1);
  });
  const CheckResult result = apart(kernel);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].kind, FindingKind::kWrongResult);
}

// --- random kernels ---------------------------------------------------------------------------------------------------

struct Step {
  enum Kind { kAdd, kStore, kAwait, kPlainStore, kPlainLoad, kAddShared, kKinds } kind = kAdd;
  size_t place = 0;
};
using Script = std::vector<std::vector<std::vector<Step>>>;  // by block and thread

constexpr size_t kPlaces = 4;

Script random_script(std::mt19937_64& random) {
  const auto below = [&](uint64_t n) { return static_cast<size_t>(random() % n); };
  Script script(2 + below(2));
  const bool mostly_own = below(2) == 0;
  for (size_t block = 0; block < script.size(); ++block) {
    script[block].resize(2);
    for (auto& thread : script[block]) {
      thread.resize(1 + below(3));
      for (Step& step : thread) {
        step.kind = static_cast<Step::Kind>(below(Step::kKinds));
        step.place = mostly_own && below(40) != 0 ? block : below(kPlaces);
      }
    }
  }
  return script;
}

Kernel make_kernel(const Script& script) {
  Kernel kernel("random", {.blocks = static_cast<uint32_t>(script.size())});
  const auto words = kernel.global_atomics<int>("words", kPlaces, zeros);
  const auto data = kernel.global<int>("data", kPlaces, zeros);
  const auto own = kernel.shared_atomics<int>("own", kPlaces, zeros);
  kernel.expect(data, {0, 0, 0, 0});
  kernel.threads(2, [=](Thread& t) {
    const auto& threads = script[t.block()];
    if (t.rank() >= threads.size()) return;
    for (const Step& step : threads[t.rank()]) {
      switch (step.kind) {
        case Step::kAdd: t.fetch_add(words[step.place], 1); break;
        case Step::kStore: t.store(words[step.place], 1); break;
        case Step::kAwait: t.await(words[step.place], std::greater{}, 0); break;
        case Step::kPlainStore: t.store(data[step.place], static_cast<int>(t.block() % 2)); break;
        case Step::kPlainLoad: t.load(data[step.place]); break;
        case Step::kAddShared: t.fetch_add(own[step.place], 1); break;
        case Step::kKinds: break;
      }
    }
  });
  return kernel;
}

std::set<std::string> told(const CheckResult& result) {
  std::set<std::string> texts;
  for (const CheckFinding& f : result.findings) {
    std::ostringstream text;
    text << name(f.kind) << ' ' << f.strict << ' ' << (f.kind == FindingKind::kDeadlock ? "" : f.object);
    for (const FoundAt& site : f.sites) text << ' ' << site.line;
    texts.insert(text.str());
  }
  return texts;
}

TEST(Apart, RandomKernelsAreJudgedAsAWhole) {
  size_t merged = 0, fewer = 0, violations = 0;
  for (uint64_t seed = 1; seed <= 5000; ++seed) {
    std::mt19937_64 random(seed);
    const Kernel kernel = make_kernel(random_script(random));
    const CheckResult whole = check(kernel), parts = apart(kernel);
    ASSERT_EQ(parts.verdict, whole.verdict) << "seed " << seed << '\n' << parts << whole;
    ASSERT_EQ(told(parts), told(whole)) << "seed " << seed << '\n' << parts << whole;
    ASSERT_TRUE(parts.complete);
    merged += parts.merged.size();
    fewer += parts.executions < whole.executions ? 1 : 0;
    violations += whole.verdict == Verdict::kViolation ? 1 : 0;
  }
  EXPECT_GT(merged, 200U);
  EXPECT_GT(fewer, 20U);
  EXPECT_GT(violations, 500U);
}

}  // namespace
}  // namespace warpcheck
