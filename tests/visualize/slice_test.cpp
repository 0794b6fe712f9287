#include "visualize/slice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/visualize/recordings.h"
#include "visualize/report.h"

namespace warpcheck {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Slice, ShowsTheWayFromTheLastCommonPoint) {
  const Slice slice = make_slice(testing::ring_race());
  EXPECT_THAT(slice.events, ElementsAre(9, 10, 12, 13, 14));  // arrive, wait, issue, write, read
  EXPECT_THAT(slice.marked, ElementsAre(13, 14));
  EXPECT_EQ(slice.last_seen[1], 9U);  // what the write knows of the reader
  EXPECT_THAT(slice.edges, Contains(Slice::Edge{9, 10, false}));
  EXPECT_THAT(slice.edges, Contains(Slice::Edge{12, 13, true}));
}

TEST(Slice, ColumnsFollowTheirIssuers) {
  const Slice slice = make_slice(testing::ring_race());
  EXPECT_THAT(slice.columns, ElementsAre(AgentId{0}, AgentId{4}, AgentId{1}));
}

TEST(Slice, UnawaitedCopyShowsItsIssue) {
  const Slice slice = make_slice(testing::unawaited_copy());
  EXPECT_THAT(slice.events, Contains(6U));
  EXPECT_THAT(slice.edges, Contains(Slice::Edge{6, 7, true}));
}

TEST(Slice, DeadlockShowsWaitersAndWhatHappenedToTheObject) {
  const Slice slice = make_slice(testing::deadlock());
  ASSERT_EQ(slice.waiters.size(), 2U);
  EXPECT_THAT(slice.events, Contains(9U));       // the arrival at empty[0]
  EXPECT_THAT(slice.events, Not(Contains(0U)));  // the first barrier is long past
}

// The consumer reads first and frees the slot then, so that the copy comes after both.
Recording freed_by_one_lane() {
  Recording recording = testing::ring_race();
  std::swap(recording.events[9], recording.events[14]);
  std::rotate(recording.events.begin() + 10, recording.events.begin() + 14, recording.events.end());
  recording.events[11].after = {10};
  recording.events[14].after = {13};
  recording.events[10].lanes = "lane 0";
  recording.finding.sites[0].step = 14;
  recording.finding.sites[1] = {"warp 1 lanes 1-31", "generic read", SiteId{6}, AgentId{1}, 9};
  return recording;
}

TEST(Slice, TellsWhichLaneAloneReleases) {
  const Recording recording = freed_by_one_lane();
  const Slice slice = make_slice(recording);
  EXPECT_TRUE(slice.connected);
  EXPECT_EQ(slice.way_out, 10U);
  EXPECT_EQ(slice.relaxed, Slice::kNone);
  EXPECT_EQ(event_words(recording, slice, 10, "warp 1"), "lane 0: arrive empty[0] -> phase 1");
  EXPECT_EQ(event_words(recording, slice, 10, "warp 1 lane 0"), "arrive empty[0] -> phase 1");
  EXPECT_THAT(explanation(recording, slice),
              ::testing::AllOf(HasSubstr("`arrive empty[0] -> phase 1` of warp 1"), HasSubstr("is by lane 0 alone"),
                               HasSubstr("(2) of warp 1 lanes 1-31 before it")));
}

TEST(Slice, ARelaxedWriteThatIsSeenOrdersNothing) {
  Recording recording = freed_by_one_lane();
  recording.events[10].releases = false;
  const Slice slice = make_slice(recording);
  EXPECT_FALSE(slice.connected);
  EXPECT_EQ(slice.relaxed, 10U);
  EXPECT_THAT(slice.edges, Contains(Slice::Edge{10, 11, false, true}));
  EXPECT_THAT(explanation(recording, slice), HasSubstr("which is relaxed and follows no fence"));
}

TEST(Slice, ACopyIsToldByTheSideThatMatters) {
  Recording recording = testing::ring_race();
  recording.finding.object = "global in";
  recording.finding.range = "[0..31]";
  recording.finding.sites[0].role = "async read";
  EXPECT_EQ(event_words(recording, make_slice(recording), 13, "copy 3 of warp 0"), "read global in[0..31]");
}

TEST(Slice, FindingWithoutRunShowsNothing) {
  Recording recording = testing::ring_race();
  recording.events.clear();
  EXPECT_TRUE(make_slice(recording).events.empty());
}

}  // namespace
}  // namespace warpcheck
