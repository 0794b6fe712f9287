// Counterexample files that were tampered with: refused in one line, whatever they say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "frontends/cli/counterexample.h"
#include "model/machine.h"
#include "tests/cli/cli.h"

namespace warpcheck::testing {
namespace {

using ::testing::StartsWith;

TEST(Counterexample, StepsThatNoRunCanTakeAreRefused) {
  const Folder folder;
  ASSERT_EQ(warpcheck({"check", kBroken}, folder).exit_code, 1);
  const std::string good = read_file(folder / "race-1.json");
  const size_t steps = good.find("\"steps\": [") + 10;
  const std::string first = good.substr(good.find('[', steps), good.find(']', steps) + 1 - good.find('[', steps));
  for (const char* step : {"[\"99.0@0\", 0]", "[\"0.0@0\", 9]", "[\"0.7@5\", 0]", "[\"4294967295.0@0\", 0]",
                           "[\"0.0@0\", -1]", "[\"0.0@0\", 65536]", "[\"0.0\", 0]", "[\"0.0@0\"]", "[0, 0]", "\"0.0@0\""}) {
    std::string bad = good;
    bad.replace(bad.find(first, steps), first.size(), step);
    write_file(folder / "bad.json", bad);
    const Outcome outcome = warpcheck({"replay", "bad.json"}, folder);
    EXPECT_EQ(outcome.exit_code, 2) << step << outcome.out;
    EXPECT_THAT(outcome.err, StartsWith("warpcheck: bad.json: ")) << step;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST(Counterexample, MutatedFilesAreReadOrRefused) {
  const Folder folder;
  ASSERT_EQ(warpcheck({"check", kBroken}, folder).exit_code, 1);
  const std::string good = read_file(folder / "race-1.json");
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good;
    const size_t at = random() % bad.size();
    if (random() % 2 == 0) {
      bad[at] = "0123456789[]{}\",:.@-\xff"[random() % 21];
    } else {
      bad.erase(at, 1 + random() % 30);
    }
    write_file(folder / "bad.json", bad);
    try {
      cli::read_counterexample(folder / "bad.json");
    } catch (const InputError&) {
    }
  }
}

}  // namespace
}  // namespace warpcheck::testing
