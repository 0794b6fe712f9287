// The numbers of traces, which are exact, for the optimal reduction with one and two workers.
#include <gtest/gtest.h>

#include <numeric>
#include <ostream>

#include "tests/conformance/programs.h"

namespace warpcheck::conformance {
namespace {

struct Count {
  const char* name;
  unsigned n;
  uint64_t traces;
};

void PrintTo(const Count& count, std::ostream* out) { *out << count.name << "(" << count.n << ")"; }

std::string test_name(const ::testing::TestParamInfo<Count>& info) {
  return std::string(info.param.name) + std::to_string(info.param.n);
}

void expect_exact(const Count& count, Reduction reduction, unsigned workers) {
  const CheckResult result = check(program(count.name, count.n), {.reduction = reduction, .workers = workers});
  EXPECT_TRUE(result.verified()) << result;
  EXPECT_EQ(result.executions, count.traces) << "workers: " << workers;
  if (reduction == Reduction::kOptimal && workers == 1) {  // tasks may meet in a sleep set
    EXPECT_EQ(result.blocked, 0U) << "workers: " << workers;
  }
}

class TraceCounts : public ::testing::TestWithParam<Count> {};

TEST_P(TraceCounts, AreExactWithOneWorker) { expect_exact(GetParam(), Reduction::kOptimal, 1); }
TEST_P(TraceCounts, AreExactWithTwoWorkers) { expect_exact(GetParam(), Reduction::kOptimal, 2); }

class SmallTraceCounts : public ::testing::TestWithParam<Count> {};

TEST_P(SmallTraceCounts, AreExactWithSourceSets) { expect_exact(GetParam(), Reduction::kSource, 1); }
TEST_P(SmallTraceCounts, AreExactWithSleepSets) {
  if (GetParam().n > 10) GTEST_SKIP() << "sleep sets alone run into millions of blocked executions";
  expect_exact(GetParam(), Reduction::kSleep, 1);
}

class LargeTraceCounts : public ::testing::TestWithParam<Count> {};

TEST_P(LargeTraceCounts, AreExactWithOneWorker) { expect_exact(GetParam(), Reduction::kOptimal, 1); }
TEST_P(LargeTraceCounts, AreExactWithTwoWorkers) { expect_exact(GetParam(), Reduction::kOptimal, 2); }

constexpr Count kTiny[] = {
    {"ainc", 2, 2},      {"ainc", 3, 6},     {"ainc", 4, 24},      {"binc", 2, 4},       {"binc", 3, 36},
    {"readers", 1, 2},   {"readers", 4, 16}, {"casrot", 2, 2},     {"casrot", 3, 5},     {"casrot", 4, 14},
    {"casw", 2, 6},      {"casw", 3, 66},    {"lastzero", 2, 5},   {"lastzero", 3, 12},  {"lastzero", 4, 28},
    {"indexer", 11, 1},  {"fib", 1, 11},     {"fib", 2, 140},      {"ownshared", 3, 6},  {"sb", 2, 3},
    {"sb", 3, 7},        {"sb", 4, 15},      {"ticketlock", 2, 2}, {"ticketlock", 3, 6}, {"ttaslock", 2, 4},
    {"ttaslock", 3, 36}, {"ttasloop", 2, 6}, {"ttasloop", 3, 162}, {"barrier", 2, 2},    {"barrier", 3, 6},
};

constexpr Count kMiddle[] = {
    {"ainc", 6, 720},   {"binc", 4, 576},    {"readers", 8, 256},    {"casrot", 5, 43},    {"casrot", 6, 144},
    {"casrot", 7, 523}, {"casw", 4, 1200},   {"lastzero", 5, 64},    {"lastzero", 6, 144}, {"lastzero", 8, 704},
    {"indexer", 12, 8}, {"indexer", 13, 64}, {"indexer", 14, 512},   {"fib", 3, 1698},     {"ownshared", 6, 720},
    {"sb", 8, 255},     {"sb", 10, 1023},    {"ticketlock", 5, 120}, {"ttaslock", 4, 576}, {"barrier", 5, 120},
};

constexpr Count kLarge[] = {
    {"ainc", 8, 40320},      {"binc", 5, 14400},    {"readers", 16, 65536},  {"casrot", 8, 2048},
    {"casrot", 9, 8597},     {"casrot", 10, 38486}, {"casw", 5, 32880},      {"lastzero", 10, 3328},
    {"lastzero", 12, 15360}, {"indexer", 15, 4096}, {"fib", 4, 19605},       {"fib", 5, 218243},
    {"ownshared", 8, 40320}, {"sb", 16, 65535},     {"ticketlock", 7, 5040}, {"ttaslock", 5, 14400},
    {"ttasloop", 4, 20760},  {"barrier", 7, 5040},
};

INSTANTIATE_TEST_SUITE_P(Tiny, TraceCounts, ::testing::ValuesIn(kTiny), test_name);
INSTANTIATE_TEST_SUITE_P(Middle, TraceCounts, ::testing::ValuesIn(kMiddle), test_name);
INSTANTIATE_TEST_SUITE_P(Tiny, SmallTraceCounts, ::testing::ValuesIn(kTiny), test_name);
INSTANTIATE_TEST_SUITE_P(All, LargeTraceCounts, ::testing::ValuesIn(kLarge), test_name);

TEST(TraceCounts, RingsHaveOneTrace) {
  for (unsigned stages = 1; stages <= 4; ++stages) {
    for (const unsigned iterations : {1U, 2U, 5U, 16U, 64U}) {
      for (const unsigned consumers : {1U, 2U, 4U, 16U}) {
        for (const unsigned workers : {1U, 2U}) {
          const CheckResult result = check(ring({stages, iterations, consumers}), {.workers = workers});
          ASSERT_TRUE(result.verified()) << result;
          ASSERT_EQ(result.executions, 1U) << stages << " stages, " << iterations << " iterations, " << consumers;
          ASSERT_EQ(result.blocked, 0U);
        }
      }
    }
  }
}

// With a phase of one arrival, which of two completions completes it matters.
TEST(TraceCounts, TwoCompletionsOfOneArrivalAreTwoTraces) {
  Kernel k("two completions");
  const auto in = k.global<int>("in", {1, 2});
  const auto tile = k.shared<int>("tile", 2);
  const auto full = k.mbarrier("full", 1);
  k.threads(1, [=](Thread& t) {
    t.copy_async(tile[0], in[0], full);
    t.copy_async(tile[1], in[1], full);
    t.wait(full);
    t.wait(full);
  });
  const CheckResult result = check(k);
  EXPECT_EQ(result.verdict, Verdict::kViolation) << "nobody has observed the first phase when the second completes";
  EXPECT_EQ(result.executions, 2U);
  EXPECT_EQ(result.blocked, 0U);
}

}  // namespace
}  // namespace warpcheck::conformance
