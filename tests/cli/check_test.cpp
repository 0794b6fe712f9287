#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/cli.h"

namespace warpcheck::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

TEST(Command, SaysItsVersion) {
  const Folder folder;
  EXPECT_EQ(warpcheck({"--version"}, folder).out, "warpcheck 0.1.0\n");
  EXPECT_EQ(warpcheck({"--version"}, folder).exit_code, 0);
}

TEST(Command, HelpTeaches) {
  const Folder folder;
  for (const std::vector<std::string>& help : {std::vector<std::string>{"--help"}, {"check", "--help"}}) {
    const Outcome outcome = warpcheck(help, folder);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("warpcheck check ring.toml"));
    EXPECT_THAT(outcome.out, HasSubstr("Exit codes: 0 verified, 1 violation, 2 bad input or usage, 3 incomplete"));
  }
}

TEST(Check, RightKernelIsVerified) {
  const Folder folder;
  const Outcome outcome = warpcheck({"check", kRight}, folder);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("OK    verified ring: "));
  EXPECT_EQ(outcome.err, "");
}

TEST(Check, BrokenKernelIsAViolationWithFiles) {
  const Folder folder;
  const Outcome outcome = warpcheck({"check", kBroken, "--out", "found"}, folder);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("FAIL  race on "));
  EXPECT_THAT(outcome.out, HasSubstr("replay: warpcheck replay found/race-1.json        graph: found/race-1.svg"));
  EXPECT_TRUE(std::filesystem::exists(folder / "found/race-1.json"));
  EXPECT_TRUE(std::filesystem::exists(folder / "found/race-1.svg"));
}

TEST(Check, BoundsMakeItIncomplete) {
  const Folder folder;
  const Outcome outcome = warpcheck({"check", kRight, "--reduction", "none", "--max-executions", "3"}, folder);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("????  incomplete ring: "));
  EXPECT_THAT(outcome.out, HasSubstr("ended by: "));
}

TEST(Check, JsonIsComplete) {
  const Folder folder;
  const Outcome outcome = warpcheck({"check", kBroken, "--json"}, folder);
  EXPECT_EQ(outcome.exit_code, 1);
  const Json json = Json::parse(outcome.out);
  for (const char* key : {"schema", "tool", "kernel", "source", "launch", "verdict", "reading", "memory", "reduction",
                          "executions", "blocked", "events", "max_depth", "complete", "bounds_hit", "merged",
                          "unsupported", "reached", "assumptions", "workers", "seconds", "findings"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json["verdict"], "violation");
  EXPECT_EQ(json["complete"], false);
  const Json& finding = json["findings"].at(0);
  EXPECT_EQ(finding["kind"], "race");
  EXPECT_EQ(finding["cause"], "no synchronization");
  EXPECT_EQ(finding["counterexample"], "race-1.json");
  EXPECT_EQ(finding["sites"].size(), 2U);
  for (const Json& site : finding["sites"]) {
    for (const char* key : {"agent", "role", "instruction", "file", "line"}) EXPECT_TRUE(site.contains(key)) << key;
  }
}

TEST(Check, SeveralLaunchesGiveAnArrayOrALineEach) {
  const Folder folder;
  const Outcome json = warpcheck({"check", kRight, kBroken, "--json"}, folder);
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_EQ(Json::parse(json.out).size(), 2U);
  const Outcome text = warpcheck({"check", kRight, kBroken}, folder);
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.out, HasSubstr("2 launches: 1 verified, 1 in violation, 0 incomplete\n"));
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), 3);
}

TEST(Check, FlagsSayTheSameAsALaunchFile) {
  const Folder folder;
  const std::vector<std::string> flags = {"check", kExamples + "/ring/ring.ptx", "--entry", "ring", "--grid", "1",
                                          "--block", "64", "--arg", "in=s32[160]:iota", "--arg", "out=s32[32]", "--json"};
  const Json by_flags = Json::parse(warpcheck(flags, folder).out);
  const Json by_file = Json::parse(warpcheck({"check", kRight, "--json"}, folder).out);
  EXPECT_EQ(by_flags["verdict"], "verified");
  EXPECT_EQ(by_flags["executions"], by_file["executions"]);
}

TEST(Check, PtxReplacesTheLaunchFilesOwn) {
  const Folder folder;
  EXPECT_EQ(warpcheck({"check", kRight, "--ptx", kExamples + "/ring/ring_broken.ptx"}, folder).exit_code, 1);
}

TEST(Check, WorkersChangeNoVerdict) {
  const Folder folder;
  for (const char* workers : {"1", "2", "4"}) {
    EXPECT_EQ(warpcheck({"check", kRight, "--workers", workers}, folder).exit_code, 0);
    EXPECT_EQ(warpcheck({"check", kBroken, "--workers", workers}, folder).exit_code, 1);
  }
}

TEST(Check, CtrlCEndsWithWhatIsKnown) {
  const Folder folder;
  const Outcome outcome = warpcheck({"check", kRight, "--reduction", "none", "--workers", "2", "--json"}, folder, 700);
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["verdict"], "incomplete");
  EXPECT_FALSE(json["bounds_hit"].empty());
  EXPECT_GT(json["executions"].get<int>(), 0);
}

}  // namespace
}  // namespace warpcheck::testing
