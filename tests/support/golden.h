// Golden files: expected texts kept beside the tests. A test program that is given --refresh writes them anew; the
// difference is then reviewed as a diff.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/support/command.h"

namespace warpcheck::testing {

inline bool& refresh_golden() {
  static bool refresh = false;
  return refresh;
}

inline void expect_golden(const std::filesystem::path& file, const std::string& text) {
  if (refresh_golden()) {
    write_file(file, text);
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(file)) << file << " is missing: run this program with --refresh";
  EXPECT_EQ(read_file(file), text) << "differs from " << file << "; if that is right, run this program with --refresh";
}

// main() of a test program with golden files.
inline int run_golden_tests(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) refresh_golden() |= std::string_view(argv[i]) == "--refresh";
  return RUN_ALL_TESTS();
}

}  // namespace warpcheck::testing
