// Exact numbers of traces: more is redundant work, fewer is unsound.
#include <gtest/gtest.h>

#include "tests/explorer/programs.h"

namespace warpcheck::toy {
namespace {

uint64_t factorial(uint64_t n) { return n < 2 ? 1 : n * factorial(n - 1); }
uint64_t square(uint64_t n) { return n * n; }

struct Entry {
  const char* name;
  ToyProgram program;
  uint64_t traces;
};

std::vector<Entry> small_entries() {
  std::vector<Entry> all;
  for (uint32_t n = 1; n <= 6; ++n) all.push_back({"ainc", ainc(n), factorial(n)});
  for (uint32_t n = 1; n <= 4; ++n) all.push_back({"binc", binc(n), square(factorial(n))});
  for (uint32_t n = 1; n <= 9; ++n) all.push_back({"readers", readers(n), uint64_t{1} << n});
  const uint64_t casrots[] = {2, 5, 14, 43, 144, 523, 2048};
  for (uint32_t n = 2; n <= 8; ++n) all.push_back({"casrot", casrot(n), casrots[n - 2]});
  const uint64_t casws[] = {6, 66, 1200};
  for (uint32_t n = 2; n <= 4; ++n) all.push_back({"casw", casw(n), casws[n - 2]});
  const std::pair<uint32_t, uint64_t> lastzeros[] = {{2, 5}, {3, 12}, {4, 28}, {5, 64}, {6, 144}, {8, 704}};
  for (const auto& [n, traces] : lastzeros) all.push_back({"lastzero", lastzero(n), traces});
  const uint64_t indexers[] = {1, 8, 64};
  for (uint32_t n = 11; n <= 13; ++n) all.push_back({"indexer", indexer(n), indexers[n - 11]});
  const uint64_t fibs[] = {11, 140, 1698};
  for (uint32_t n = 1; n <= 3; ++n) all.push_back({"fib", fib(n), fibs[n - 1]});
  for (uint32_t n = 1; n <= 6; ++n) all.push_back({"ownshared", ownshared(n), factorial(n)});
  for (uint32_t n = 2; n <= 9; ++n) all.push_back({"sb", sb(n), (uint64_t{1} << n) - 1});
  for (uint32_t n = 1; n <= 5; ++n) all.push_back({"ticketlock", ticketlock(n), factorial(n)});
  for (uint32_t n = 1; n <= 4; ++n) all.push_back({"ttaslock", ttaslock(n), square(factorial(n))});
  all.push_back({"ttasloop", ttasloop(2), 6});
  all.push_back({"ttasloop", ttasloop(3), 162});
  for (uint32_t n = 1; n <= 6; ++n) all.push_back({"barrier", barrier(n), factorial(n)});
  for (bool parity : {false, true}) {
    all.push_back({"ring", ring(1, 1, 3, parity), 1});
    all.push_back({"ring", ring(1, 2, 5, parity), 1});
    all.push_back({"ring", ring(3, 2, 6, parity), 1});
    all.push_back({"ring", ring(2, 3, 9, parity), 1});
  }
  all.push_back({"two_completions", two_completions(), 2});
  return all;
}

std::vector<Entry> large_entries() {
  std::vector<Entry> all;
  all.push_back({"ainc", ainc(8), factorial(8)});
  all.push_back({"readers", readers(16), 1 << 16});
  all.push_back({"casrot", casrot(9), 8597});
  all.push_back({"casrot", casrot(10), 38486});
  all.push_back({"casw", casw(5), 32880});
  all.push_back({"lastzero", lastzero(10), 3328});
  all.push_back({"lastzero", lastzero(12), 15360});
  all.push_back({"indexer", indexer(14), 512});
  all.push_back({"indexer", indexer(15), 4096});
  all.push_back({"fib", fib(4), 19605});
  all.push_back({"fib", fib(5), 218243});
  all.push_back({"binc", binc(5), square(factorial(5))});
  all.push_back({"ownshared", ownshared(9), factorial(9)});
  all.push_back({"sb", sb(18), (1 << 18) - 1});
  all.push_back({"ticketlock", ticketlock(8), factorial(8)});
  all.push_back({"ttaslock", ttaslock(5), square(factorial(5))});
  all.push_back({"ttasloop", ttasloop(4), 20760});
  all.push_back({"barrier", barrier(8), factorial(8)});
  return all;
}

void expect_exact(const Entry& entry, unsigned workers) {
  const uint64_t steps = workers == 1 || entry.traces > 3000 ? 20'000 : 100;
  const ExploreResult result = explore(entry.program, {.workers = workers, .keep_going = true, .min_task_steps = steps});
  EXPECT_EQ(result.executions, entry.traces) << entry.name << " with " << entry.program.threads.size() << " threads, "
                                             << workers << " workers";
  EXPECT_EQ(result.verdict, Verdict::kVerified) << entry.name;
  if (workers == 1) {
    EXPECT_EQ(result.blocked, 0U) << entry.name;
  }
  if (entry.traces > 500) {
    printf("%-12s %6zu threads %u workers %8lu executions %6lu blocked %9.0f /s\n", entry.name,
           entry.program.threads.size(), workers, static_cast<unsigned long>(result.executions),
           static_cast<unsigned long>(result.blocked), static_cast<double>(result.executions) / result.seconds);
  }
}

TEST(TraceCounts, ExactWithOneWorker) {
  for (const Entry& entry : small_entries()) expect_exact(entry, 1);
}

TEST(TraceCounts, ExactWithManyWorkers) {
  for (const unsigned workers : {2U, 4U, 8U}) {
    for (const Entry& entry : small_entries()) expect_exact(entry, workers);
  }
}

// Each state's branches are set aside as soon as there are any, and nothing guides them.
TEST(TraceCounts, ExactInTheSmallestTasks) {
  for (const Entry& entry : small_entries()) {
    const ExploreResult result = explore(entry.program, {.keep_going = true, .max_tree_nodes = 0});
    EXPECT_EQ(result.executions, entry.traces) << entry.name << " with " << entry.program.threads.size() << " threads";
    EXPECT_EQ(result.verdict, Verdict::kVerified) << entry.name;
  }
}

TEST(TraceCounts, DISABLED_LargeExactWithOneWorker) {
  for (const Entry& entry : large_entries()) expect_exact(entry, 1);
}

TEST(TraceCounts, DISABLED_LargeExactWithManyWorkers) {
  for (const unsigned workers : {2U, 4U, 8U}) {
    for (const Entry& entry : large_entries()) expect_exact(entry, workers);
  }
}

}  // namespace
}  // namespace warpcheck::toy
