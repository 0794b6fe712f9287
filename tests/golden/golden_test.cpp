// Reports and graphs of the examples, as users see them. --refresh writes them anew.
#include <gtest/gtest.h>

#include "tests/cli/cli.h"
#include "tests/support/golden.h"

namespace warpcheck::testing {
namespace {

const std::filesystem::path kGolden = GOLDEN_FOLDER;

// One worker and the default reduction: the same execution shows the finding on every machine.
void expect_report(const std::string& example, int exit_code) {
  const Folder folder;
  const std::string name = std::filesystem::path(example).filename().string();
  const Outcome checked = warpcheck({"check", kExamples + "/" + example + ".toml", "--workers", "1"}, folder);
  EXPECT_EQ(checked.exit_code, exit_code) << checked.err;
  expect_golden(kGolden / (name + ".txt"), checked.out);
  if (exit_code != 1) return;
  EXPECT_EQ(warpcheck({"replay", "race-1.json"}, folder).out, checked.out);
  EXPECT_EQ(warpcheck({"graph", "race-1.json", "-o", "race.dot"}, folder).exit_code, 0);
  expect_golden(kGolden / (name + ".dot"), read_file(folder / "race.dot"));
}

TEST(Golden, Ring) { expect_report("ring/ring", 0); }
TEST(Golden, BrokenRing) { expect_report("ring/ring_broken", 1); }
TEST(Golden, BulkStore) { expect_report("bulk_store/bulk_store", 0); }
TEST(Golden, BrokenBulkStore) { expect_report("bulk_store/bulk_store_broken", 1); }

}  // namespace
}  // namespace warpcheck::testing

int main(int argc, char** argv) { return warpcheck::testing::run_golden_tests(argc, argv); }
