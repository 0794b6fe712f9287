#include "visualize/slice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/visualize/recordings.h"

namespace warpcheck {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
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

TEST(Slice, FindingWithoutRunShowsNothing) {
  Recording recording = testing::ring_race();
  recording.events.clear();
  EXPECT_TRUE(make_slice(recording).events.empty());
}

}  // namespace
}  // namespace warpcheck
