// Runs the reference cases: a line a family, what is wrong with those that are, and the total.
#include <chrono>
#include <cstdio>
#include <map>

#include "tests/conformance/cases.h"

int main() {
  using namespace warpcheck::conformance;
  constexpr size_t kCases = 314;

  const auto start = std::chrono::steady_clock::now();
  struct Count {
    size_t right = 0, all = 0;
  };
  std::map<int, Count> families;
  std::string complaints;
  size_t right = 0, all = 0;
  for (const Case& c : all_cases()) {
    const std::string complaint = wrong(c);
    Count& family = families[c.family];
    ++family.all, ++all;
    if (complaint.empty()) {
      ++family.right, ++right;
    } else {
      complaints += "wrong: family " + std::to_string(c.family) + " [" + c.variant + "]: " + complaint;
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  for (const auto& [family, count] : families) std::printf("family %2d: %zu/%zu\n", family, count.right, count.all);
  std::fputs(complaints.c_str(), stdout);
  if (all != kCases) std::printf("wrong: %zu kernels instead of %zu\n", all, kCases);
  std::printf("%zu/%zu right in %.3f s\n", right, kCases, seconds.count());
  return right == kCases && all == kCases ? 0 : 1;
}
