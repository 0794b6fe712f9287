// Whatever a user gets wrong is one clear line on standard error and exit code 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/cli.h"

namespace warpcheck::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

void expect_refused(const std::vector<std::string>& arguments, const Folder& folder, const std::string& what) {
  const Outcome outcome = warpcheck(arguments, folder);
  EXPECT_EQ(outcome.exit_code, 2) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, StartsWith("warpcheck: "));
  EXPECT_THAT(outcome.err, HasSubstr(what));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(BadInput, Usage) {
  const Folder folder;
  expect_refused({}, folder, "found no command, expected one of check, replay, graph");
  expect_refused({"chekc"}, folder, "found 'chekc', expected one of check, replay, graph");
  expect_refused({"check"}, folder, "FILE");
  expect_refused({"check", kRight, "--nonsense"}, folder, "--nonsense");
  expect_refused({"check", kRight, "--workers", "x"}, folder, "--workers");
  expect_refused({"check", kRight, "--workers", "0"}, folder, "--workers");
  expect_refused({"check", kRight, "--reduction", "best"}, folder, "best");
  expect_refused({"check", kRight, "--max-seconds", "-1"}, folder, "--max-seconds");
  expect_refused({"check", kRight, "--grid", "1"}, folder, "launch flags");
  expect_refused({"replay"}, folder, "COUNTEREXAMPLE");
  expect_refused({"graph", "race-1.json"}, folder, "--output");
}

TEST(BadInput, Files) {
  const Folder folder;
  std::filesystem::create_directory(folder / "folder.toml");
  write_file(folder / "garbage.toml", std::string("\x7f" "ELF\x02\x01\0\0\n\xff\xfe", 11));
  write_file(folder / "garbage.ptx", std::string("\x7f" "ELF\x02\x01\0\0\n\xff\xfe", 11));
  write_file(folder / "empty.ptx", "");
  write_file(folder / "lost.toml", "ptx = 'none.ptx'\n");
  expect_refused({"check", "none.toml"}, folder, "none.toml: no such file");
  expect_refused({"check", "none.ptx"}, folder, "none.ptx: no such file");
  expect_refused({"check", "folder.toml"}, folder, "found a directory");
  expect_refused({"check", "."}, folder, "found a directory");
  expect_refused({"check", "garbage.toml"}, folder, "garbage.toml:1");
  expect_refused({"check", "garbage.ptx"}, folder, "garbage.ptx");
  expect_refused({"check", "empty.ptx"}, folder, "empty.ptx");
  expect_refused({"check", "lost.toml"}, folder, "none.ptx: no such file");
  expect_refused({"check", kRight, "--ptx", "none.ptx"}, folder, "none.ptx: no such file");
  expect_refused({"check", kRight, "--out", kRight}, folder, "--out");
}

TEST(BadInput, LaunchesThatDoNotFitTheKernel) {
  const Folder folder;
  const std::string ptx = kExamples + "/ring/ring.ptx";
  const std::string head = "ptx = '" + ptx + "'\nblock = [64]\n";
  write_file(folder / "few.toml", head + "[[arg]]\nname = 'in'\nbuffer = 's32[160]'\ninit = 'iota'\n");
  write_file(folder / "entry.toml", "entry = 'rign'\n" + head);
  write_file(folder / "type.toml", head + "[[arg]]\nbuffer = 's32[160]'\n[[arg]]\nname = 'n'\nscalar = 's32'\nvalue = 1\n");
  write_file(folder / "symbol.toml", head + "[[arg]]\nbuffer = 's32[160]'\n[[arg]]\nbuffer = 's32[32]'\n"
                                            "[[symbol]]\nname = 'table'\ninit = [1]\n");
  expect_refused({"check", "few.toml"}, folder, "few.toml");
  expect_refused({"check", "entry.toml"}, folder, "rign");
  expect_refused({"check", "type.toml"}, folder, "type.toml:5");
  expect_refused({"check", "symbol.toml"}, folder, "symbol.toml:7");
  expect_refused({"check", ptx, "--block", "64"}, folder, "expected");
  expect_refused({"check", ptx, "--block", "64", "--arg", "in=s32[x]:iota"}, folder, "--arg");
  expect_refused({"check", ptx, "--block", "1000000"}, folder, "--block");
}

TEST(BadInput, Counterexamples) {
  const Folder folder;
  ASSERT_EQ(warpcheck({"check", kBroken}, folder).exit_code, 1);
  const std::string good = read_file(folder / "race-1.json");
  expect_refused({"replay", "none.json"}, folder, "none.json: no such file");
  expect_refused({"replay", "."}, folder, "found a directory");
  expect_refused({"graph", "race-1.json", "-o", "race.xyz"}, folder, "expected one of .svg");
  expect_refused({"graph", "race-1.json", "-o", "none/race.svg"}, folder, "cannot be written");
  write_file(folder / "empty.json", "");
  write_file(folder / "list.json", "[1, 2]");
  write_file(folder / "half.json", good.substr(0, good.size() / 2));
  write_file(folder / "binary.json", std::string("\0\xff\xfe{", 4));
  std::string steps = good;
  steps.replace(steps.find("\"steps\""), 7, "\"stops\"");
  write_file(folder / "stops.json", steps);
  for (const char* file : {"empty.json", "list.json", "half.json", "binary.json", "stops.json"}) {
    expect_refused({"replay", file}, folder, "found no counterexample");
    expect_refused({"graph", file, "-o", "x.svg"}, folder, "found no counterexample");
  }
}

}  // namespace
}  // namespace warpcheck::testing
