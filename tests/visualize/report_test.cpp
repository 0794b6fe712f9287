#include "visualize/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/visualize/recordings.h"
#include "visualize/graph.h"
#include "visualize/slice.h"

namespace warpcheck {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::filesystem::path kGolden = GOLDEN_FOLDER;

void expect_told(const std::string& name, const Recording& recording) {
  testing::expect_golden(kGolden / (name + ".txt"),
                         finding_report(recording, Sources(), {2, 9, true, name + "-1.json", name + "-1.svg"}));
  testing::expect_golden(kGolden / (name + ".dot"), graph_text(recording, Sources()));
}

TEST(Report, Race) { expect_told("race", testing::ring_race()); }
TEST(Report, UnawaitedCopy) { expect_told("unawaited", testing::unawaited_copy()); }
TEST(Report, Deadlock) { expect_told("deadlock", testing::deadlock()); }

TEST(Report, EveryCauseHasItsSentence) {
  for (int i = 1; i <= static_cast<int>(Cause::kNoSynchronization); ++i) {
    Recording recording = testing::ring_race();
    recording.finding.cause = static_cast<Cause>(i);
    EXPECT_THAT(explanation(recording, make_slice(recording)), HasSubstr("not ordered: "));
  }
}

TEST(Report, ShowsTheSourceLine) {
  const testing::Folder folder;
  testing::write_file(folder / "ring.cu", std::string(72, '\n') + "  sum += ring[s][lane];  // a comment\n");
  EXPECT_THAT(finding_report(testing::ring_race(), Sources({folder.path().string()}), {}),
              HasSubstr("        sum += ring[s][lane];\n"));
}

TEST(Report, PicturesAreWritten) {
  const testing::Folder folder;
  write_graph(testing::ring_race(), Sources(), folder / "race.svg");
  EXPECT_THAT(testing::read_file(folder / "race.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(testing::read_file(folder / "race.svg"), HasSubstr("no synchronization"));
  EXPECT_THROW(write_graph(testing::ring_race(), Sources(), folder / "none/race.svg"), InputError);
  EXPECT_THROW(write_graph(testing::ring_race(), Sources(), folder / "race"), InputError);
  EXPECT_THROW(write_graph(testing::ring_race(), Sources(), folder / "race.nonsense"), InputError);
}

TEST(Report, NamesAreEscapedInPictures) {
  Recording recording = testing::ring_race();
  recording.kernel = "ring<int, (a & b)>\"";
  const testing::Folder folder;
  write_graph(recording, Sources(), folder / "race.svg");
  EXPECT_THAT(testing::read_file(folder / "race.svg"), HasSubstr("ring&lt;int, (a &amp; b)&gt;"));
}

TEST(Report, VerdictComesFirst) {
  RunSummary summary;
  summary.kernel = "ring";
  summary.verdict = "verified";
  summary.executions = 1;
  summary.ran = 37;
  summary.of = 52;
  for (uint32_t line = 80; line <= 91; ++line) summary.not_reached.push_back({"a/ring.cu", line});
  EXPECT_THAT(verdict_report(summary), HasSubstr("OK    verified ring: 1 execution, reading default, memory sc"));
  EXPECT_THAT(verdict_report(summary),
              HasSubstr("37 of 52 memory and barrier instructions ran; not reached: ring.cu:80-91\n"));
  summary.verdict = "incomplete";
  summary.bounds_hit = {"max_executions"};
  EXPECT_THAT(verdict_report(summary), HasSubstr("????  incomplete ring"));
  EXPECT_THAT(verdict_report(summary), HasSubstr("ended by: max_executions"));
}

TEST(Sources, RangesOfLines) {
  EXPECT_EQ(line_ranges({{"b.cu", 3}, {"a.cu", 2}, {"a.cu", 1}, {"a.cu", 2}, {"a.cu", 5}}), "a.cu:1-2, a.cu:5, b.cu:3");
  EXPECT_EQ(line_ranges({}), "");
}

TEST(Sources, ShortensOutsideOfSequences) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(shortened("ab\xc3\xa4xyz", 6), "ab...");
}

}  // namespace
}  // namespace warpcheck

int main(int argc, char** argv) { return warpcheck::testing::run_golden_tests(argc, argv); }
