// Lanes that part and meet, values that take effect, instructions that are not supported.
#include <gtest/gtest.h>

#include <thread>

#include "kernel.h"

namespace warpcheck::ptx {
namespace {

using testing::check;
using testing::describe;
using testing::errors;
using testing::launch;
using testing::result;

const std::string kStore =
    "\nld.param.u64 %rd0, [out]; mov.u32 %r30, %tid.x; mul.wide.u32 %rd1, %r30, 4; add.s64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r0; ret;";

TEST(Lanes, PartAndMeetInsideAThread) {
  const std::string body =
      "mov.u32 %r1, %laneid; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN; mov.u32 %r0, 100; bra END;\n"
      "EVEN: mov.u32 %r0, 200; END: add.u32 %r0, %r0, %r1;" + kStore;
  const auto out = result(body, 32, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], (i % 2 == 0 ? 200 : 100) + i);
}

TEST(Lanes, LoopDifferentNumbersOfTimes) {
  const std::string body = "mov.u32 %r1, %laneid; mov.u32 %r0, 0; mov.u32 %r2, 0;\n"
                           "L: add.u32 %r0, %r0, %r2; add.u32 %r2, %r2, 1; setp.le.u32 %p1, %r2, %r1; @%p1 bra L;" + kStore;
  const auto out = result(body, 32, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i * (i + 1) / 2);
}

TEST(Lanes, MeetAgainAtAShuffle) {
  const std::string body =
      "mov.u32 %r1, %laneid; setp.lt.u32 %p1, %r1, 7; @%p1 bra A; mov.u32 %r2, 1000; bra B; A: mov.u32 %r2, 2000;\n"
      "B: add.u32 %r2, %r2, %r1; shfl.sync.bfly.b32 %r0, %r2, 31, 31, -1;" + kStore;
  const auto out = result(body, 32, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], (31 - i < 7 ? 2000 : 1000) + 31 - i);
}

TEST(Lanes, ThatSynchronizeApartMeetAtTheRendezvous) {
  LaunchSpec spec = launch(32, 32);
  spec.buffers[0].expect = Contents{};
  for (uint64_t i = 0; i < 32; ++i) spec.buffers[0].expect->elements.emplace_back(31 - i);
  // One lane initializes a barrier by itself; then all lanes elect and shuffle together.
  const auto result = check(
      ".shared .align 8 .u64 bar; .shared .b32 s[32]; mov.u32 %r1, %laneid; setp.eq.u32 %p1, %r1, 3; @%p1 mbarrier.init.shared.b64 [bar], 32;\n"
      "mov.u32 %r3, s; mad.lo.u32 %r4, %r1, 4, %r3; st.shared.u32 [%r4], %r1; bar.warp.sync -1;\n"
      "xor.b32 %r5, %r1, 31; mad.lo.u32 %r4, %r5, 4, %r3; ld.shared.u32 %r0, [%r4];" + kStore, spec);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
  EXPECT_EQ(result.executions, 1U);
}

TEST(Values, ARegisterThatNothingWasWrittenToDecidesNothing) {
  const auto stored = check("setp.eq.u32 %p1, %r7, 0; @%p1 mov.u32 %r0, 1;" + kStore, launch(1, 1));
  EXPECT_EQ(stored.verdict, Verdict::kIncomplete) << describe(stored);
}

TEST(Barriers, AnArrivalBeforeTheInitializationIsMisuse) {
  const auto result = check(
      ".shared .align 8 .u64 bar; mov.u32 %r0, 0; mbarrier.arrive.shared.b64 %rd5, [bar];\n"
      "mbarrier.init.shared.b64 [bar], 1;" + kStore, launch(1, 1));
  EXPECT_FALSE(errors(result, FindingKind::kBarrierMisuse).empty()) << describe(result);
}

TEST(Copies, AMulticastBeyondTheClusterIsOutOfBounds) {
  const auto result = check(
      ".shared .align 128 .b8 tile[128]; .shared .align 8 .u64 bar; .reg .b16 %h<2>; mov.u16 %h1, 2; mov.u32 %r0, 0;\n"
      "ld.param.u64 %rd2, [out]; mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%rd2], 16, [bar], %h1;" + kStore,
      launch(1, 4));
  EXPECT_FALSE(errors(result, FindingKind::kOutOfBounds).empty()) << describe(result);
}

TEST(Lanes, OfOneWarpRaceWithoutABarrier) {
  const auto result = check(
      ".shared .b32 s[32]; mov.u32 %r1, %laneid; mov.u32 %r3, s; mad.lo.u32 %r4, %r1, 4, %r3; st.shared.u32 [%r4], %r1;\n"
      "xor.b32 %r5, %r1, 31; mad.lo.u32 %r4, %r5, 4, %r3; ld.shared.u32 %r0, [%r4];" + kStore, launch(32, 32));
  EXPECT_FALSE(errors(result, FindingKind::kRace).empty()) << describe(result);
}

TEST(Lanes, NeverWaitForEachOtherAtAJoin) {
  // Lane 0 waits for a barrier on which lane 1 arrives behind the join.
  const auto result = check(
      ".shared .align 8 .u64 bar; mov.u32 %r1, %laneid; setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;\n"
      "@!%p1 bra J; W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W;\n"
      "J: setp.eq.u32 %p3, %r1, 1; @%p3 mbarrier.arrive.shared.b64 _, [bar]; mov.u32 %r0, 1;" + kStore, launch(2, 2));
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
}

TEST(Lanes, ContendingForAWordMeetEveryOrder) {
  const std::string body = "ld.param.u64 %rd0, [out]; atom.global.add.u32 %r1, [%rd0], 1; mov.u32 %r30, %tid.x; add.u32 %r30, %r30, 1;\n"
                           "mul.wide.u32 %rd1, %r30, 4; add.s64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r1; ret;";
  const auto result = check(body, launch(3, 4));
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
  EXPECT_EQ(result.executions, 6U);
}

TEST(Lanes, ReducingOneWordTakeOneStep) {
  LaunchSpec spec = launch(64, 1);
  spec.buffers[0].expect = Contents{{2016}};
  const auto result = check("ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; red.global.add.u32 [%rd0], %r1; ret;", spec);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
  EXPECT_EQ(result.executions, 1U);
}

TEST(Values, UninitializedOnesSpeakWhenTheyTakeEffect) {
  const std::string load = ".shared .b32 s[4]; ld.shared.u32 %r1, [s]; add.u32 %r0, %r1, 1;";
  EXPECT_TRUE(errors(check(load + " ret;", launch(1, 1)), FindingKind::kUninitializedRead).empty());
  const auto stored = check(load + kStore, launch(1, 1));
  ASSERT_EQ(errors(stored, FindingKind::kUninitializedRead).size(), 1U) << describe(stored);
  EXPECT_EQ(errors(stored, FindingKind::kUninitializedRead)[0].object, "shared s[0]");
  const auto decided = check(load + " setp.eq.u32 %p1, %r0, 0; @%p1 ret; ret;", launch(1, 1));
  EXPECT_EQ(errors(decided, FindingKind::kUninitializedRead).size(), 1U) << describe(decided);
}

TEST(Values, OpaqueOnesMayBeStoredButNotDecide) {
  const std::string opaque = "mov.u32 %r0, %clock;";
  EXPECT_EQ(check(opaque + kStore, launch(1, 1)).verdict, Verdict::kVerified);
  const auto decided = check(opaque + "setp.eq.u32 %p1, %r0, 0; @%p1 ret; ret;", launch(1, 1));
  EXPECT_EQ(decided.verdict, Verdict::kIncomplete) << describe(decided);
}

TEST(Instruction, NotSupportedMakesTheVerdictIncompleteOnlyWhereReached) {
  EXPECT_EQ(check("banana.b32 %r1, %r2; ret;", launch(1, 1)).verdict, Verdict::kIncomplete);
  EXPECT_EQ(check("bra L; banana.b32 %r1, %r2; L: ret;", launch(1, 1)).verdict, Verdict::kVerified);
  EXPECT_EQ(check("add.cc.u32 %r1, %r2, 1; ret;", launch(1, 1)).verdict, Verdict::kIncomplete);
}

TEST(Instruction, NotSupportedHidesWhatItWouldHaveCaused) {
  const auto result = check(
      ".shared .align 8 .u64 bar; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;\n"
      "@!%p1 bra W; banana; mbarrier.arrive.shared.b64 _, [bar]; ret;\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W; ret;", launch(64, 1));
  EXPECT_EQ(result.verdict, Verdict::kIncomplete) << describe(result);
}

TEST(Instruction, TrapIsAnAssertion) {
  EXPECT_EQ(errors(check("trap;", launch(1, 1)), FindingKind::kAssertion).size(), 1U);
}

TEST(Loops, WithoutEndHitTheLimit) {
  const auto result = check("L: bra L;", launch(1, 1));
  EXPECT_EQ(result.verdict, Verdict::kIncomplete) << describe(result);
  ASSERT_EQ(errors(result, FindingKind::kLimit).size(), 1U);
}

TEST(Loops, ThatActOnAFailingTestAreNotWaits) {
  const auto result = check(
      ".shared .align 8 .u64 bar; mbarrier.init.shared.b64 [bar], 1; mov.u32 %r0, 0;\n"
      "W: add.u32 %r0, %r0, 1; mbarrier.try_wait.parity.shared.b64 %p2, [bar], 1; @!%p2 bra W;" + kStore, launch(1, 1));
  EXPECT_EQ(result.verdict, Verdict::kIncomplete) << describe(result);
}

TEST(Loops, WithTriesAndClocksAreWaits) {
  const auto result = check(
      ".shared .align 8 .u64 bar; mbarrier.init.shared.b64 [bar], 1; mov.u64 %rd5, %globaltimer; mov.u32 %r5, 0; bra W; N: add.s32 %r5, %r5, 1;\n"
      "W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 1; selp.b32 %r6, 1, 0, %p2; setp.eq.s32 %p3, %r6, 0; @%p3 bra A; bra DONE;\n"
      "A: setp.lt.s32 %p4, %r5, 16; @%p4 bra N; mov.u64 %rd6, %globaltimer; sub.s64 %rd7, %rd6, %rd5; setp.lt.s64 %p5, %rd7, 40000;\n"
      "@%p5 bra W; nanosleep.u32 100; bra W; DONE: mov.u32 %r0, 1;" + kStore, launch(1, 1));
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
}

const std::string kFlag = "ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra POLL;\n";

TEST(Loops, ThatPollAWordWaitForItToChange) {
  const auto result = check(kFlag +
      "mov.u32 %r2, 7; st.global.u32 [%rd0+16], %r2; st.release.gpu.global.u32 [%rd0], 1; ret;\n"
      "POLL: ld.acquire.gpu.global.u32 %r3, [%rd0]; setp.eq.u32 %p2, %r3, 0; @%p2 bra POLL; ld.global.u32 %r4, [%rd0+16];\n"
      "st.global.u32 [%rd0+20], %r4; ret;", launch(2, 8));
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
  EXPECT_LE(result.executions, 2U);
}

TEST(Loops, ThatPollAWordForEverAreADeadlock) {
  const auto result = check("ld.param.u64 %rd0, [out]; POLL: ld.volatile.global.u32 %r3, [%rd0]; setp.eq.u32 %p2, %r3, 0; @%p2 bra POLL; ret;",
                            launch(1, 1));
  EXPECT_EQ(errors(result, FindingKind::kDeadlock).size(), 1U) << describe(result);
}

TEST(Loops, OfCompareAndSwapMakeALock) {
  LaunchSpec spec = launch(2, 2);
  spec.buffers[0].expect = Contents{{0, 2}};
  const auto result = check(
      "ld.param.u64 %rd0, [out]; TRY: atom.acquire.gpu.global.cas.b32 %r1, [%rd0], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra TRY;\n"
      "ld.global.u32 %r2, [%rd0+4]; add.u32 %r2, %r2, 1; st.global.u32 [%rd0+4], %r2; st.release.gpu.global.u32 [%rd0], 0; ret;", spec);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
}

TEST(Loops, ThatCountTheirTriesAreNoPolls) {
  LaunchSpec spec = launch(1, 1);
  spec.buffers[0].expect = Contents{{5}};
  const auto result = check(
      "ld.param.u64 %rd0, [out]; mov.u32 %r2, 0; TRY: ld.volatile.global.u32 %r1, [%rd0]; add.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 5;\n"
      "@%p1 bra TRY; st.global.u32 [%rd0], %r2; ret;", spec);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
}

TEST(Values, OpaqueOnesAreEqualWhereTheSameWasComputed) {
  const std::string half = "mov.b16 %h1, 0x3c00; add.f16 %h2, %h1, %h1; ld.param.u64 %rd0, [out];";
  const auto same = check(half + " st.global.b16 [%rd0], %h2; ret;", launch(2, 1));
  EXPECT_TRUE(errors(same, FindingKind::kRace).empty()) << describe(same);
  const auto other = check("mov.u32 %r1, %laneid; cvt.u16.u32 %h1, %r1; add.f16 %h2, %h1, %h1; ld.param.u64 %rd0, [out];\n"
                           "st.global.b16 [%rd0], %h2; ret;", launch(2, 1));
  EXPECT_FALSE(errors(other, FindingKind::kRace).empty()) << describe(other);
}

const std::string kCopy = ".shared .align 16 .b32 s[4]; ld.param.u64 %rd0, [out]; mov.u32 %r1, 5; st.global.u32 [%rd0], %r1; mov.u32 %r2, s;\n";

TEST(Copies, OfALaneAreOverWhenItsGroupIs) {
  LaunchSpec spec = launch(1, 8);
  spec.buffers[0].expect = Contents{{5, 0, 0, 0, 5, 0}};
  const std::string copy = kCopy + "cp.async.cg.shared.global [%r2], [%rd0], 16, 4; cp.async.commit_group;";
  const std::string use = "ld.shared.v2.b32 {%r3, %r4}, [s]; st.global.v2.b32 [%rd0+16], {%r3, %r4}; ret;";
  const auto waits = check(copy + "cp.async.wait_group 0;" + use, spec);
  EXPECT_EQ(waits.verdict, Verdict::kVerified) << describe(waits);
  const auto early = check(copy + "cp.async.wait_group 1;" + use, spec);
  ASSERT_FALSE(errors(early, FindingKind::kRace).empty()) << describe(early);
  EXPECT_EQ(errors(early, FindingKind::kRace)[0].cause, Cause::kNotAwaited);
}

TEST(Copies, WithoutASourceMayPointAnywhere) {
  LaunchSpec spec = launch(1, 4);
  spec.buffers[0].expect = Contents{{5, 0}};
  const auto result = check(kCopy + "mov.u64 %rd1, 0; cp.async.ca.shared.global [%r2], [%rd1], 4, 0; cp.async.wait_all;\n"
                                    "ld.shared.u32 %r3, [s]; st.global.u32 [%rd0+4], %r3; ret;", spec);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
}

TEST(Calls, OfAssertFailAreAssertions) {
  const auto program = make_program(launch(1, 1),
      ".version 9.0\n.target sm_90\n.address_size 64\n.extern .func __assertfail(.param .b64 a, .param .b32 b) .noreturn;\n"
      ".entry k(.param .u64 out) { { .param .b64 param0; st.param.b64 [param0+0], 1; .param .b32 param1; st.param.b32 [param1], 2;\n"
      "call.uni __assertfail, (param0, param1); } ret; }", "k.ptx");
  const auto result = explore(*program, {.keep_going = true});
  EXPECT_EQ(errors(result, FindingKind::kAssertion).size(), 1U) << describe(result);
}

TEST(Memory, OutOfBoundsNamesTheBuffer) {
  const auto above = errors(check("ld.param.u64 %rd0, [out]; st.global.u32 [%rd0+4], 1; ret;", launch(1, 1)), FindingKind::kOutOfBounds);
  ASSERT_EQ(above.size(), 1U);
  EXPECT_NE(above[0].object.find("out"), std::string::npos) << above[0].object;
  EXPECT_EQ(errors(check("mov.u64 %rd0, 0; ld.global.u32 %r0, [%rd0]; ret;", launch(1, 1)), FindingKind::kOutOfBounds).size(), 1U);
}

TEST(Memory, MisalignedIsReported) {
  EXPECT_EQ(errors(check("ld.param.u64 %rd0, [out]; st.global.u32 [%rd0+2], 1; ret;", launch(1, 2)), FindingKind::kMisaligned).size(), 1U);
}

TEST(Result, NamesTheFirstElementThatDiffers) {
  LaunchSpec spec = launch(1, 4);
  spec.buffers[0].expect = Contents{{std::nullopt, 0, 7, 8}};
  const auto result = check("ld.param.u64 %rd0, [out]; st.global.u32 [%rd0], 5; ret;", spec);
  const auto found = errors(result, FindingKind::kWrongResult);
  ASSERT_EQ(found.size(), 1U) << describe(result);
  EXPECT_EQ(found[0].message, "out[2]: found 0, expected 7");
}

TEST(Program, CanBeSharedAmongThreads) {
  const auto program = make_program(launch(32, 32), testing::entry("mov.u32 %r0, %laneid;" + kStore), "k.ptx");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { EXPECT_EQ(explore(*program, {}).verdict, Verdict::kVerified); });
  for (std::thread& thread : threads) thread.join();
}

// Lane 0 of each block adds one under a lock that thread 0 takes and all learn of behind a barrier.
std::string block_lock(const std::string& loop_extra) {
  return ".shared .b32 s; ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; mov.u32 %r9, 0;\n"
         "L: bar.sync 0; mov.u32 %r2, 0; @%p1 atom.global.acq_rel.gpu.cas.b32 %r2, [%rd0], 0, 1; @%p1 st.shared.u32 [s], %r2; " + loop_extra +
         "bar.sync 0; ld.shared.u32 %r3, [s]; setp.ne.u32 %p2, %r3, 0; @%p2 bra L;\n"
         "ld.global.u32 %r4, [%rd0+4]; add.u32 %r4, %r4, 1; @%p1 st.global.u32 [%rd0+4], %r4; bar.sync 0;\n"
         "@%p1 atom.global.acq_rel.gpu.exch.b32 %r5, [%rd0], 0; bar.sync 0; ret;";
}

TEST(Spins, ThroughABarrierOfTheBlockWait) {
  LaunchSpec spec = launch(64, 2);
  spec.grid = {2, 1, 1};
  spec.buffers[0].expect = Contents{{0, 2}};
  const auto result = check(block_lock(""), spec);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
  EXPECT_LT(result.executions, 20U);
  // Lanes that load the counter and never use it race in the strict reading alone.
  EXPECT_FALSE(result.findings.empty());
}

TEST(Spins, ThroughABarrierThatNeverEndAreADeadlock) {
  LaunchSpec spec = launch(64, 2);
  spec.buffers[0].init.elements[0] = 1;
  const auto result = check(block_lock(""), spec);
  const auto deadlocks = errors(result, FindingKind::kDeadlock);
  ASSERT_EQ(deadlocks.size(), 1U) << describe(result);
  EXPECT_NE(deadlocks[0].message.find("waits for global out[0"), std::string::npos) << deadlocks[0].message;
}

TEST(Spins, OfAVoteWait) {
  // Lane 0 polls, a vote tells the others.
  const std::string body = "ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; @%p1 bra W; setp.eq.u32 %p2, %r1, 0;\n"
                           "L: mov.u32 %r2, 1; @%p2 ld.acquire.gpu.global.u32 %r2, [%rd0]; setp.eq.u32 %p3, %r2, 0; vote.sync.any.pred %p4, %p3, -1; @%p4 bra L; ret;\n"
                           "W: setp.eq.u32 %p5, %r1, 32; @%p5 st.release.gpu.global.u32 [%rd0], 1; ret;";
  const auto result = check(body, launch(64, 2));
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
  EXPECT_LT(result.executions, 10U);
}

TEST(Spins, ThatAnotherWayRoundLeavesAreNoWaits) {
  // Of three lanes that wait one takes a way on which %r5 makes it leave the loop.
  const std::string body = ".shared .align 8 .u64 bar; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [bar], 1; bar.sync 0;\n"
                           "setp.ne.u32 %p2, %r1, 1; setp.eq.u32 %p3, %r1, 2; @%p1 bra ARR;\n"
                           "L: mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0; @%p4 bra DONE; @%p2 bra A; mov.u32 %r5, 1; bra B; A: mov.u32 %r5, 0;\n"
                           "B: @%p3 bra C; bra D; C: nanosleep.u32 20; D: setp.eq.u32 %p5, %r5, 1; @%p5 bra BAD; bra L; BAD: trap;\n"
                           "ARR: mbarrier.arrive.shared.b64 _, [bar]; DONE: ret;";
  const auto result = check(body, launch(3, 1));
  EXPECT_NE(result.verdict, Verdict::kVerified) << describe(result);
}

TEST(Spins, OfABlockThatPollsTwoWordsAreRefused) {
  // Warps 0 and 1 poll a word each, until either is set; block 1 sets one of them.
  for (const char* set : {"[%rd0]", "[%rd0+4]"}) {
    const std::string body = ".shared .b32 s[2]; ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra SET;\n"
                             "shr.u32 %r3, %r1, 5; shl.b32 %r4, %r3, 2; cvt.u64.u32 %rd2, %r4; add.u64 %rd3, %rd0, %rd2; mov.u32 %r5, s; add.u32 %r6, %r5, %r4;\n"
                             "and.b32 %r7, %r1, 31; setp.ne.u32 %p2, %r7, 0;\n"
                             "L: @%p2 bra SKIP; ld.relaxed.gpu.global.u32 %r8, [%rd3]; st.shared.u32 [%r6], %r8; SKIP: bar.sync 0;\n"
                             "ld.shared.u32 %r9, [s]; ld.shared.u32 %r10, [s+4]; bar.sync 0; or.b32 %r11, %r9, %r10; setp.eq.u32 %p3, %r11, 0; @%p3 bra L; ret;\n"
                             "SET: setp.ne.u32 %p5, %r1, 0; @%p5 ret; mov.u32 %r15, 1; st.relaxed.gpu.global.u32 " + std::string(set) + ", %r15; ret;";
    LaunchSpec spec = launch(64, 2);
    spec.grid = {2, 1, 1};
    const auto program = make_program(spec, testing::entry(body), "k.ptx");
    const auto result = explore(*program, {.keep_going = true, .max_executions = 10000});
    EXPECT_EQ(result.verdict, Verdict::kIncomplete) << describe(result);
    EXPECT_FALSE(errors(result, FindingKind::kUnsupported).empty()) << describe(result);
  }
}

TEST(Values, ALoadThatRacesCountsWhenItsValueTakesEffect) {
  const std::string race = ".shared .b32 s[64]; mov.u32 %r1, %tid.x; mov.u32 %r2, s; setp.eq.u32 %p1, %r1, 0; setp.ne.u32 %p2, %r1, 0; ld.param.u64 %rd0, [out];\n"
                           "@%p1 st.shared.u32 [s], 5; ld.shared.u32 %r3, [s]; add.u32 %r4, %r3, 1;";
  const auto unused = check(race + " ret;", launch(64, 64));
  EXPECT_EQ(unused.verdict, Verdict::kVerified) << describe(unused);
  EXPECT_FALSE(unused.findings.empty());
  const auto own = check(race + " @%p1 st.global.u32 [%rd0], %r4; ret;", launch(64, 64));
  EXPECT_EQ(own.verdict, Verdict::kVerified) << describe(own);
  for (const char* use : {" mul.wide.u32 %rd1, %r1, 4; add.s64 %rd0, %rd0, %rd1; @%p2 st.global.u32 [%rd0], %r4; ret;", " setp.eq.u32 %p3, %r4, 0; @%p3 ret; ret;",
                          " bar.sync 0; and.b32 %r5, %r4, 4; @%p2 add.u32 %r5, %r5, %r2; @%p2 ld.shared.u32 %r6, [%r5]; ret;"}) {
    const auto used = check(race + use, launch(64, 64));
    EXPECT_FALSE(errors(used, FindingKind::kRace).empty()) << use << describe(used);
  }
}

}  // namespace
}  // namespace warpcheck::ptx
