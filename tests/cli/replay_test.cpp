#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/cli.h"

namespace warpcheck::testing {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kBrokenExamples = {kBroken, kExamples + "/bulk_store/bulk_store_broken.toml"};

TEST(Replay, TellsTheSameByteForByte) {
  for (const std::string& broken : kBrokenExamples) {
    const Folder folder;
    const Outcome checked = warpcheck({"check", broken}, folder);
    ASSERT_EQ(checked.exit_code, 1) << checked.err;
    const Outcome replayed = warpcheck({"replay", "race-1.json"}, folder);
    EXPECT_EQ(replayed.exit_code, 1) << replayed.err;
    EXPECT_EQ(replayed.out, checked.out);
  }
}

TEST(Replay, WorksForALaunchSaidInFlags) {
  const Folder folder;
  const Outcome checked = warpcheck({"check", kExamples + "/ring/ring_broken.ptx", "--block", "64", "--arg",
                                     "in=s32[160]:iota", "--arg", "out=s32[32]:zero"}, folder);
  ASSERT_EQ(checked.exit_code, 1) << checked.err;
  EXPECT_EQ(warpcheck({"replay", "race-1.json"}, folder).out, checked.out);
}

TEST(Replay, RefusesAnotherKernelOrLaunch) {
  const Folder folder;
  for (const char* file : {"ring_broken.toml", "ring_broken.ptx", "ring.ptx", "ring.cu"}) {
    std::filesystem::copy(kExamples + "/ring/" + file, folder / file);
  }
  ASSERT_EQ(warpcheck({"check", "ring_broken.toml"}, folder).exit_code, 1);
  const std::string launch = read_file(folder / "ring_broken.toml"), ptx = read_file(folder / "ring_broken.ptx");
  write_file(folder / "ring_broken.toml", "# only a comment\n" + launch);
  EXPECT_EQ(warpcheck({"replay", "race-1.json"}, folder).exit_code, 1);

  std::string other = launch;
  other.replace(other.find("iota"), 4, "zero");
  write_file(folder / "ring_broken.toml", other);
  const Outcome changed_launch = warpcheck({"replay", "race-1.json"}, folder);
  EXPECT_EQ(changed_launch.exit_code, 2);
  EXPECT_THAT(changed_launch.err, HasSubstr("found another launch in ring_broken.toml"));

  write_file(folder / "ring_broken.toml", launch);
  write_file(folder / "ring_broken.ptx", read_file(folder / "ring.ptx"));
  const Outcome changed_kernel = warpcheck({"replay", "race-1.json"}, folder);
  EXPECT_EQ(changed_kernel.exit_code, 2);
  EXPECT_THAT(changed_kernel.err, HasSubstr("found another kernel in ring_broken.ptx"));
}

TEST(Counterexample, ThoseOfTheKernelBeforeItWasCompiledAnewAreKept) {
  const Folder folder;
  for (const char* file : {"ring_broken.toml", "ring_broken.ptx", "ring.cu"}) {
    std::filesystem::copy(kExamples + "/ring/" + file, folder / file);
  }
  warpcheck({"check", "ring_broken.toml"}, folder);
  const std::string before = read_file(folder / "race-1.json");
  warpcheck({"check", "ring_broken.toml"}, folder);
  EXPECT_FALSE(std::filesystem::exists(folder / "race-2.json"));
  write_file(folder / "ring_broken.ptx", read_file(folder / "ring_broken.ptx") + "\n// compiled anew\n");
  warpcheck({"check", "ring_broken.toml"}, folder);
  EXPECT_TRUE(std::filesystem::exists(folder / "race-2.json"));
  EXPECT_EQ(read_file(folder / "race-1.json"), before);
}

TEST(Counterexample, FilesOfAnotherKernelAreKept) {
  const Folder folder;
  write_file(folder / "race-1.json", "mine");
  ASSERT_EQ(warpcheck({"check", kBrokenExamples[0]}, folder).exit_code, 1);
  ASSERT_EQ(warpcheck({"check", kBrokenExamples[1]}, folder).exit_code, 1);
  EXPECT_EQ(read_file(folder / "race-1.json"), "mine");
  EXPECT_THAT(read_file(folder / "race-2.json"), HasSubstr("\"kernel\": \"ring\""));
  EXPECT_THAT(read_file(folder / "race-3.json"), HasSubstr("\"kernel\": \"bulk_store\""));
  ASSERT_EQ(warpcheck({"check", kBrokenExamples[0]}, folder).exit_code, 1);  // the same again: the same file
  EXPECT_FALSE(std::filesystem::exists(folder / "race-4.json"));
}

TEST(Counterexample, VerdictOutlivesAPictureThatCannotBeWritten) {
  const Folder folder;
  std::filesystem::create_directory(folder / "race-1.svg");
  const Outcome outcome = warpcheck({"check", kBroken}, folder);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("race-1.svg: cannot be written"));
  EXPECT_THAT(outcome.out, HasSubstr("replay: warpcheck replay race-1.json\n"));
}

TEST(Graph, WritesDotAndSvg) {
  const Folder folder;
  ASSERT_EQ(warpcheck({"check", kBroken}, folder).exit_code, 1);
  EXPECT_EQ(warpcheck({"graph", "race-1.json", "-o", "x.dot"}, folder).exit_code, 0);
  EXPECT_EQ(warpcheck({"graph", "race-1.json", "-o", "x.svg"}, folder).exit_code, 0);
  EXPECT_THAT(read_file(folder / "x.dot"), HasSubstr("digraph"));
  EXPECT_THAT(read_file(folder / "x.svg"), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace warpcheck::testing
