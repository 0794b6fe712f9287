// wgmma and tcgen05: what is ordered without a wait, what the two readings say, how tensor memory lives, which values come out.
#include <gtest/gtest.h>

#include <algorithm>

#include "frontends/ptx/matrix_descriptor.h"
#include "frontends/ptx/tensor_math.h"
#include "kernel.h"

namespace warpcheck::ptx {
namespace {

using testing::check;
using testing::describe;
using testing::errors;
using testing::launch;
using testing::result;

bool has_strict(const ExploreResult& result, FindingKind kind) {
  return std::any_of(result.findings.begin(), result.findings.end(), [&](const FoundFinding& found) {
    return found.finding.kind == kind && found.finding.strict;
  });
}

bool strict_only(const ExploreResult& result, FindingKind kind) {
  return result.verdict == Verdict::kVerified && has_strict(result, kind);
}

bool clean(const ExploreResult& result) { return result.verdict == Verdict::kVerified && result.findings.empty(); }

bool has_error(const ExploreResult& result, FindingKind kind, Cause cause = Cause::kNone) {
  const auto found = errors(result, kind);
  return std::any_of(found.begin(), found.end(), [&](const Finding& f) { return cause == Cause::kNone || f.cause == cause; });
}

// --- tcgen05 ----------------------------------------------------------------------------------------------------------

// 128 threads. Warp 0 allocates 64 columns, %r10; sa (128 x 16, f16) and sb (16 x 16) hold ones; `done` and `done2` await one
// arrival. %p1: warp 0, %p2: thread 0, %p3: thread 32. %r11: the warp's own lanes of column 0.
const std::string kStart =
    ".shared .align 128 .b8 sa[4096]; .shared .align 128 .b8 sb[512]; .shared .b32 base; .shared .align 8 .b64 done; .shared .align 8 .b64 done2;\n"
    "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 32; setp.eq.u32 %p2, %r1, 0; setp.eq.u32 %p3, %r1, 32;\n"
    "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 64;\n"
    "@%p2 mbarrier.init.shared.b64 [done], 1; @%p2 mbarrier.init.shared.b64 [done2], 1;\n"
    "mov.u32 %r2, sa; mad.lo.u32 %r2, %r1, 32, %r2; mov.u32 %r3, 0x3c003c00;\n"
    "st.shared.v4.b32 [%r2], {%r3, %r3, %r3, %r3}; st.shared.v4.b32 [%r2+16], {%r3, %r3, %r3, %r3};\n"
    "mov.u32 %r2, sb; mad.lo.u32 %r2, %r1, 4, %r2; st.shared.b32 [%r2], %r3;\n"
    "fence.proxy.async.shared::cta; fence.mbarrier_init.release.cluster; tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;\n"
    "ld.shared.b32 %r10, [base]; shr.u32 %r4, %r1, 5; shl.b32 %r4, %r4, 21; add.u32 %r11, %r10, %r4;\n"
    // no swizzling: core matrices of 128 bytes, 128 apart along K, 256 apart along the rows; version 1
    "mov.u32 %r5, sa; shr.u32 %r5, %r5, 4; cvt.u64.u32 %rd10, %r5; or.b64 %rd10, %rd10, 0x0000401000080000;\n"
    "mov.u32 %r5, sb; shr.u32 %r5, %r5, 4; cvt.u64.u32 %rd11, %r5; or.b64 %rd11, %rd11, 0x0000401000080000;\n"
    "setp.ne.u32 %p10, 0, 0; setp.eq.u32 %p11, 0, 0;\n";

std::string mma(const std::string& who, const std::string& enable = "%p10", const std::string& d = "%r10", uint32_t n = 16) {
  return who + " tcgen05.mma.cta_group::1.kind::f16 [" + d + "], %rd10, %rd11, " + std::to_string(1U << 4 | n / 8 << 17 | 8U << 24) + ", " + enable + ";\n";
}
std::string commit(const std::string& who, const std::string& barrier = "done") {
  return who + " tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [" + barrier + "];\n";
}
std::string wait(const std::string& barrier = "done", const std::string& label = "W") {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p4, [" + barrier + "], 0; @!%p4 bra " + label + ";\n";
}
const std::string kAfter = "tcgen05.fence::after_thread_sync;\n", kBefore = "tcgen05.fence::before_thread_sync;\n";
const std::string kLoad = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r11];\n";
const std::string kWaitLoad = "tcgen05.wait::ld.sync.aligned;\n", kWaitStore = "tcgen05.wait::st.sync.aligned;\n";
const std::string kStore = "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r11], {%r3, %r3};\n";
const std::string kSync = kBefore + "bar.sync 0;\n" + kAfter;
const std::string kOut = "ld.param.u64 %rd0, [out]; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r20;\n";
const std::string kFree = "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 64;\n";
const std::string kEnd = kSync + kFree + "ret;";

ExploreResult run(const std::string& middle, const std::string& end = kEnd) { return check(kStart + middle + end, launch(128, 128)); }

TEST(Tcgen05, MultipliesIntoTensorMemory) {
  const auto out = result(kStart + mma("@%p2") + mma("@%p2", "%p11") + commit("@%p2") + wait() + kAfter + kLoad + kWaitLoad + kOut + kEnd, 128, 128);
  for (const uint32_t bits : out) EXPECT_EQ(bits, 0x42000000U);  // 16 + 16
}

TEST(Tcgen05, IsOrderedByCommitBarrierAndFence) {
  const auto result = run(mma("@%p2") + commit("@%p2") + wait() + kAfter + kLoad + kWaitLoad + kOut);
  EXPECT_TRUE(clean(result)) << describe(result);
  EXPECT_EQ(result.executions, 1U);
}

TEST(Tcgen05, WithoutTheFenceOnlyTheStrictReadingObjects) {
  const auto result = run(mma("@%p2") + commit("@%p2") + wait() + kLoad + kWaitLoad + kOut);
  EXPECT_TRUE(strict_only(result, FindingKind::kRace)) << describe(result);
}

TEST(Tcgen05, LoadsWithoutACommitRace) {
  const auto result = run(mma("@%p2") + kSync + kLoad + kWaitLoad + kOut + commit("@%p2") + wait() + kAfter);
  EXPECT_TRUE(has_error(result, FindingKind::kRace, Cause::kNotPipelined)) << describe(result);
}

TEST(Tcgen05, CommitsCoverTheirOwnThreadOnly) {
  const auto result = run(mma("@%p2") + kSync + commit("@%p3") + wait() + kAfter + kLoad + kWaitLoad + kOut + commit("@%p2", "done2") + wait("done2", "V") + kAfter);
  EXPECT_TRUE(has_error(result, FindingKind::kRace, Cause::kNotPipelined)) << describe(result);
}

TEST(Tcgen05, MmasOnOneAccumulatorArePipelinedAcrossThreads) {
  const std::string end = commit("@%p3") + wait() + kAfter;
  EXPECT_TRUE(clean(run(mma("@%p2") + kSync + mma("@%p3", "%p11") + end + commit("@%p2", "done2") + wait("done2", "V"))));
  const auto unfenced = run(mma("@%p2") + "bar.sync 0;\n" + mma("@%p3", "%p11") + end + commit("@%p2", "done2") + wait("done2", "V") + kAfter);
  EXPECT_TRUE(strict_only(unfenced, FindingKind::kRace)) << describe(unfenced);
  const auto unordered = run(mma("@%p2") + mma("@%p3", "%p11") + end + commit("@%p2", "done2") + wait("done2", "V") + kAfter);
  EXPECT_TRUE(has_error(unordered, FindingKind::kRace)) << describe(unordered);
}

TEST(Tcgen05, MmasOfOtherShapesAreNotPipelined) {
  const auto result = run(mma("@%p2") + mma("@%p2", "%p10", "%r10", 8) + commit("@%p2") + wait() + kAfter);
  EXPECT_TRUE(has_error(result, FindingKind::kRace, Cause::kNotPipelined)) << describe(result);
}

TEST(Tcgen05, CopiesArePipelinedWithMmasButNotWithLoads) {
  const std::string copy = "@%p2 tcgen05.cp.cta_group::1.128x256b [%r10], %rd10;\n";
  EXPECT_TRUE(clean(run(copy + mma("@%p2", "%p11") + commit("@%p2") + wait() + kAfter)));
  const auto result = run(copy + kSync + kLoad + kWaitLoad + kOut + commit("@%p2") + wait() + kAfter);
  EXPECT_TRUE(has_error(result, FindingKind::kRace, Cause::kNotPipelined)) << describe(result);
  const auto after = run(mma("@%p2") + copy + commit("@%p2") + wait() + kAfter);
  EXPECT_TRUE(has_error(after, FindingKind::kRace, Cause::kNotPipelined)) << describe(after);
}

TEST(Tcgen05, CopiesMoveTheirBytes) {
  const auto out = testing::result(kStart + "@%p2 tcgen05.cp.cta_group::1.128x256b [%r10], %rd10;\n" + commit("@%p2") + wait() + kAfter + kLoad + kWaitLoad + kOut + kEnd, 128, 128);
  for (const uint32_t bits : out) EXPECT_EQ(bits, 0x3c003c00U);
}

TEST(Tcgen05, StoresNeedTheirWait) {
  const std::string then = mma("@%p2", "%p11") + commit("@%p2") + wait() + kAfter;
  EXPECT_TRUE(clean(run(kStore + "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r11+2], {%r3, %r3};\n" + kWaitStore + kSync + then)));
  const auto result = run(kStore + kSync + then + kWaitStore);
  EXPECT_TRUE(has_error(result, FindingKind::kRace, Cause::kNotPipelined)) << describe(result);
}

TEST(Tcgen05, AnUnwaitedLoadIsStrictOnceItsResultIsUsed) {
  const std::string before = mma("@%p2") + commit("@%p2") + wait() + kAfter;
  const auto used = run(before + kLoad + kOut);
  EXPECT_TRUE(strict_only(used, FindingKind::kRegisterHazard)) << describe(used);
  EXPECT_TRUE(has_strict(used, FindingKind::kRace)) << describe(used);  // with the end of the allocation
  const auto unused = run(before + kLoad);
  EXPECT_TRUE(has_error(unused, FindingKind::kRace)) << describe(unused);
  const auto arithmetic = run(before + kLoad + "add.u32 %r20, %r20, 1;\n" + kWaitLoad + kOut);
  EXPECT_TRUE(strict_only(arithmetic, FindingKind::kRegisterHazard)) << describe(arithmetic);
  const auto moved = run(before + kLoad + "mov.b32 %r22, %r20;\n" + kWaitLoad + "mov.b32 %r20, %r22;\n" + kOut);
  EXPECT_TRUE(clean(moved)) << describe(moved);
}

TEST(Tcgen05, UnwrittenColumnsAreUninitialized) {
  EXPECT_TRUE(has_error(run(kLoad + kWaitLoad + kOut), FindingKind::kUninitializedRead));
}

TEST(Tcgen05, OperandsNeedAProxyFence) {
  const auto result = run("mov.u32 %r2, sb; mad.lo.u32 %r2, %r1, 4, %r2; st.shared.b32 [%r2], %r3; bar.sync 0;\n" + mma("@%p2") + commit("@%p2") + wait() + kAfter);
  EXPECT_TRUE(has_error(result, FindingKind::kRace, Cause::kProxyFence)) << describe(result);
}

TEST(Tcgen05, AnUnawaitedMmaAtTheEnd) {
  const auto result = run(mma("@%p2"), "ret;");
  EXPECT_TRUE(has_error(result, FindingKind::kUnawaitedAsync)) << describe(result);
  EXPECT_TRUE(has_error(result, FindingKind::kLifetime)) << describe(result);  // and the columns are never freed
}

TEST(Tcgen05, MemoryIsUsedWhileItIsAllocated) {
  const auto late = run(kSync + kFree + kSync + kLoad + kWaitLoad, "ret;");
  EXPECT_TRUE(has_error(late, FindingKind::kLifetime)) << describe(late);
  const auto beside = run("add.u32 %r11, %r11, 100;\n" + kLoad + kWaitLoad);
  EXPECT_TRUE(has_error(beside, FindingKind::kLifetime)) << describe(beside);
  const auto twice = run(kSync + kFree + kFree, "ret;");
  EXPECT_TRUE(has_error(twice, FindingKind::kLifetime)) << describe(twice);
  const std::string relinquish = "@%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n";
  EXPECT_TRUE(clean(run(relinquish)));
  const auto again = run(relinquish + "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;\n");
  EXPECT_TRUE(has_error(again, FindingKind::kLifetime)) << describe(again);
}

TEST(Tcgen05, WarpsReachTheirOwnLanes) {
  const auto result = run("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r20, %r21}, [%r10];\n" + kWaitLoad);
  EXPECT_TRUE(has_error(result, FindingKind::kOutOfBounds)) << describe(result);
}

// Two warps that need all columns take turns.
std::string turns(const std::string& free) {
  return ".shared .b32 base[2]; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; mov.u32 %r3, base; mad.lo.u32 %r3, %r2, 4, %r3;\n"
         "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], 512; ld.shared.b32 %r10, [%r3];\n" + free + "ret;";
}

TEST(Tcgen05, AllocationWaitsForColumns) {
  const auto fine = check(turns("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 512;\n"), launch(64, 1));
  EXPECT_EQ(fine.verdict, Verdict::kVerified) << describe(fine);
  EXPECT_EQ(fine.executions, 2U);
  const auto stuck = check(turns(""), launch(64, 1));
  EXPECT_TRUE(has_error(stuck, FindingKind::kDeadlock)) << describe(stuck);
}

TEST(Tcgen05, AColumnsAddressWordMayBeOverwrittenByACopy) {
  const auto result = run("@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [done], 16; ld.param.u64 %rd0, [out]; bar.sync 0;\n"
                          "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [pool], [%rd0], 16, [done];\n" + wait() +
                          ".shared .align 16 .b8 pool[16];\n");
  EXPECT_TRUE(clean(result)) << describe(result);
  const std::string body = ".shared .align 16 .b8 pool[16]; .shared .align 8 .b64 done; mov.u32 %r1, %tid.x; setp.eq.u32 %p2, %r1, 0;\n"
                           "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [pool], 32; ld.shared.b32 %r10, [pool];\n"
                           "@%p2 mbarrier.init.shared.b64 [done], 1; fence.mbarrier_init.release.cluster; bar.sync 0; ld.param.u64 %rd0, [out];\n"
                           "@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [done], 16;\n"
                           "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [pool], [%rd0], 16, [done];\n" + wait() +
                           "bar.sync 0; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32; ret;";
  const auto word = check(body, launch(32, 4));
  EXPECT_TRUE(strict_only(word, FindingKind::kRace)) << describe(word);
}

TEST(Tcgen05, AFenceCountsForTheLanesThatRunIt) {
  const std::string skip = "and.b32 %r25, %r1, 31; setp.ne.u32 %p12, %r25, 0; @%p12 bra Z;\n";
  const auto result = run(mma("@%p2") + commit("@%p2") + wait() + skip + kAfter + "Z:\n" + kLoad + kWaitLoad + kOut);
  EXPECT_TRUE(strict_only(result, FindingKind::kRace)) << describe(result);
  const auto predicated = run(mma("@%p2") + commit("@%p2") + wait() + "and.b32 %r25, %r1, 31; setp.eq.u32 %p12, %r25, 0; @%p12 " + kAfter + kLoad + kWaitLoad + kOut);
  EXPECT_TRUE(strict_only(predicated, FindingKind::kRace)) << describe(predicated);
}

TEST(Tcgen05, DBeginsWhereItsLayoutDoes) {
  const auto at = [&](uint32_t lane, uint32_t m) {
    return run("add.u32 %r26, %r10, " + std::to_string(lane << 16) + ";\n@%p2 tcgen05.mma.cta_group::1.kind::f16 [%r26], %rd10, %rd11, " +
               std::to_string(1U << 4 | 2U << 17 | m / 16 << 24) + ", %p10;\n" + commit("@%p2") + wait() + kAfter);
  };
  EXPECT_TRUE(clean(at(0, 128)));
  EXPECT_TRUE(clean(at(0, 64)));
  EXPECT_TRUE(clean(at(16, 64)));
  EXPECT_TRUE(has_error(at(16, 128), FindingKind::kMisaligned));
  EXPECT_TRUE(has_error(at(32, 64), FindingKind::kMisaligned));
  EXPECT_TRUE(has_error(at(8, 64), FindingKind::kMisaligned));
}

TEST(Tcgen05, RefusesAShiftedA) {
  const auto result = run("@%p2 tcgen05.mma.cta_group::1.kind::f16.ashift [%r10], [%r10+32], %rd11, " + std::to_string(1U << 4 | 2 << 17 | 8U << 24) +
                          ", %p10;\n" + commit("@%p2") + wait() + kAfter);
  EXPECT_FALSE(errors(result, FindingKind::kUnsupported).empty()) << describe(result);
}

// --- wgmma ------------------------------------------------------------------------------------------------------------

// 128 threads; sa (64 x 16, f16) and sb (8 x 16) hold ones, %f0..3 zero.
const std::string kTiles =
    ".shared .align 128 .b8 sa[2048]; .shared .align 128 .b8 sb[256]; mov.u32 %r1, %tid.x; mov.u32 %r3, 0x3c003c00;\n"
    "mov.u32 %r2, sa; mad.lo.u32 %r2, %r1, 16, %r2; st.shared.v4.b32 [%r2], {%r3, %r3, %r3, %r3};\n"
    "setp.lt.u32 %p1, %r1, 64; mov.u32 %r2, sb; mad.lo.u32 %r2, %r1, 4, %r2; @%p1 st.shared.b32 [%r2], %r3;\n"
    "fence.proxy.async.shared::cta; bar.sync 0;\n"
    "mov.u32 %r5, sa; shr.u32 %r5, %r5, 4; cvt.u64.u32 %rd10, %r5; or.b64 %rd10, %rd10, 0x0000001000080000;\n"
    "mov.u32 %r5, sb; shr.u32 %r5, %r5, 4; cvt.u64.u32 %rd11, %r5; or.b64 %rd11, %rd11, 0x0000001000080000;\n"
    "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0; setp.eq.u32 %p11, 0, 0;\n";
const std::string kFence = "wgmma.fence.sync.aligned;\n", kCommit = "wgmma.commit_group.sync.aligned;\n", kWait = "wgmma.wait_group.sync.aligned 0;\n";
const std::string kMma = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd10, %rd11, %p11, 1, 1, 0, 0;\n";
const std::string kOutF = "ld.param.u64 %rd0, [out]; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd0, %rd0, %rd1; st.global.f32 [%rd0], %f0;\n";

ExploreResult run_group(const std::string& middle, uint32_t threads = 128) { return check(kTiles + middle + "ret;", launch(threads, threads)); }

TEST(Wgmma, ExchangesOfPendingRegistersAreHazards) {
  const std::string pending = kFence + kMma + kCommit;
  for (const char* use : {"mov.b32 %r20, %f0; shfl.sync.bfly.b32 %r20, %r20, 1, 31, -1;\n",
                          "mov.b32 %r20, %f0; movmatrix.sync.aligned.m8n8.trans.b16 %r20, %r20;\n",
                          "mov.b32 %r21, 0; mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f9, %f10, %f11, %f12}, {%r21, %r21}, {%r21}, {%f0, %f1, %f2, %f3}; mov.b32 %r20, %f9;\n",
                          "mov.b32 %r22, %f0; mov.b32 %r21, 0; mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f9, %f10, %f11, %f12}, {%r22, %r21}, {%r21}, {%f5, %f5, %f5, %f5}; mov.b32 %r20, %f9;\n",
                          "mov.f32 %f9, 0f3f800000; setp.ne.u32 %p5, %r1, 500; selp.f32 %f10, %f9, %f0, !%p5; mov.b32 %r20, %f10;\n",
                          "mov.f32 %f9, 0f3f800000; setp.ne.u32 %p5, %r1, 500; selp.f32 %f10, %f0, %f9, %p5; mov.b32 %r20, %f10;\n"}) {
    const auto early = run_group("mov.f32 %f5, 0f00000000;\n" + pending + use + kWait + kOut);
    EXPECT_TRUE(has_error(early, FindingKind::kRegisterHazard)) << use << describe(early);
    const auto awaited = run_group("mov.f32 %f5, 0f00000000;\n" + pending + kWait + use + kOut);
    EXPECT_TRUE(errors(awaited, FindingKind::kRegisterHazard).empty()) << use << describe(awaited);
  }
  // The lanes that take the other value read nothing that is pending.
  const auto other = run_group(pending + "mov.f32 %f9, 0f3f800000; setp.eq.u32 %p5, %r1, 500; selp.f32 %f10, %f0, %f9, %p5; mov.b32 %r20, %f10;\n" + kWait + kOut);
  EXPECT_TRUE(errors(other, FindingKind::kRegisterHazard).empty()) << describe(other);
}

TEST(Wgmma, MultipliesIntoRegisters) {
  const auto out = result(kTiles + kFence + kMma + kMma + kCommit + kWait + kOutF + "ret;", 128, 128);
  for (const uint32_t bits : out) EXPECT_EQ(bits, 0x42000000U);
}

TEST(Wgmma, IsOneExecutionOfFourWarps) {
  const auto result = run_group(kFence + kMma + kCommit + kFence + kMma + kCommit + "wgmma.wait_group.sync.aligned 1;\n" + kWait + kOutF);
  EXPECT_TRUE(clean(result)) << describe(result);
  EXPECT_EQ(result.executions, 1U);
}

TEST(Wgmma, AccumulatorsArePendingUntilTheWait) {
  const auto early = run_group(kFence + kMma + kCommit + kOutF + kWait);
  EXPECT_TRUE(has_error(early, FindingKind::kRegisterHazard)) << describe(early);
  const auto older = run_group(kFence + kMma + kCommit + kMma + kCommit + "wgmma.wait_group.sync.aligned 1;\n" + kOutF + kWait);
  EXPECT_TRUE(has_error(older, FindingKind::kRegisterHazard)) << describe(older);
  const auto computed = run_group(kFence + kMma + kCommit + "add.f32 %f0, %f0, %f0;\n" + kWait + kOutF);
  EXPECT_TRUE(has_error(computed, FindingKind::kRegisterHazard)) << describe(computed);
}

TEST(Wgmma, AccumulatorsOverwrittenInFlightAreLost) {
  const auto early = run_group(kFence + kMma + kCommit + "mov.f32 %f0, 0f00000000;\n" + kWait + kOutF);
  EXPECT_TRUE(has_error(early, FindingKind::kRegisterHazard)) << describe(early);
  const auto late = run_group(kFence + kMma + kCommit + kWait + "mov.f32 %f0, 0f00000000;\n" + kFence + kMma + kCommit + kWait + kOutF);
  EXPECT_TRUE(clean(late)) << describe(late);
}

TEST(Wgmma, RegistersWrittenBehindTheFenceAreStrict) {
  EXPECT_TRUE(strict_only(run_group(kMma + kCommit + kWait + kOutF), FindingKind::kRegisterHazard));
  EXPECT_TRUE(strict_only(run_group(kFence + "mov.f32 %f0, 0f00000000;\n" + kMma + kCommit + kWait + kOutF), FindingKind::kRegisterHazard));
}

TEST(Wgmma, OneWarpsWaitReleasesTheOperandsOfAll) {
  const std::string overwrite = "setp.eq.u32 %p2, %r1, 0; mov.u32 %r2, sa; @%p2 st.shared.b32 [%r2], %r3;\n";
  EXPECT_TRUE(clean(run_group(kFence + kMma + kCommit + kWait + overwrite + kOutF)));
  const auto early = run_group(kFence + kMma + kCommit + overwrite + kWait + kOutF);
  EXPECT_TRUE(has_error(early, FindingKind::kRace, Cause::kNotAwaited)) << describe(early);
}

TEST(Wgmma, AnotherWarpsTileNeedsABarrier) {
  const auto result = run_group("mov.u32 %r2, sa; mad.lo.u32 %r2, %r1, 16, %r2; st.shared.b32 [%r2], %r3; fence.proxy.async.shared::cta;\n" +
                                kFence + kMma + kCommit + kWait + kOutF);
  EXPECT_TRUE(has_error(result, FindingKind::kRace)) << describe(result);
}

TEST(Wgmma, NeedsAllWarpsOfTheGroup) {
  const auto absent = run_group("setp.ge.u32 %p2, %r1, 96; @%p2 ret;\n" + kFence + kMma + kCommit + kWait + kOutF);
  EXPECT_TRUE(has_error(absent, FindingKind::kDivergence)) << describe(absent);
  const auto few = run_group(kFence + kMma + kCommit + kWait + kOutF, 96);
  EXPECT_TRUE(has_error(few, FindingKind::kDivergence)) << describe(few);
  const auto differ = run_group("setp.lt.u32 %p2, %r1, 32; @%p2 add.u64 %rd10, %rd10, 1;\n" + kFence + kMma + kCommit + kWait + kOutF);
  EXPECT_TRUE(has_error(differ, FindingKind::kDivergence)) << describe(differ);
}

TEST(Wgmma, DescriptorsAndScaleBelongToTheWholeGroup) {
  const std::string rest = kFence + kMma + kCommit + kWait + kOutF;
  for (const char* differ : {"and.b32 %r6, %r1, 1; setp.eq.u32 %p2, %r6, 1; @%p2 add.u64 %rd11, %rd11, 1;\n",  // in odd lanes
                             "and.b32 %r6, %r1, 31; setp.eq.u32 %p2, %r6, 0; @%p2 add.u64 %rd10, %rd10, 1;\n",
                             "and.b32 %r6, %r1, 1; setp.eq.u32 %p11, %r6, 1;\n",
                             "setp.lt.u32 %p11, %r1, 64;\n"}) {  // in half of the warps
    const auto result = run_group(differ + rest);
    EXPECT_TRUE(has_error(result, FindingKind::kDivergence)) << differ << describe(result);
  }
}

TEST(Wgmma, AnUnawaitedGroupAtTheEnd) {
  EXPECT_TRUE(has_error(run_group(kFence + kMma + kCommit), FindingKind::kUnawaitedAsync));
}

TEST(Wgmma, TakesAFromRegisters) {
  const auto out = result(kTiles + "mov.b32 %r6, 0x40004000;\n" + kFence +
                              "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r6, %r6, %r6, %r6}, %rd11, %p11, 1, -1, 0;\n" +
                              kCommit + kWait + kOutF + "ret;", 128, 128);
  for (const uint32_t bits : out) EXPECT_EQ(bits, 0xc2000000U);  // 16 * 2 * -1
}

// --- parts ------------------------------------------------------------------------------------------------------------

TEST(MatrixDescriptor, SwizzledRowsTakeTurns) {
  const uint64_t bits = 1024 >> 4 | uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
  const auto chunks = chunks_of(wgmma_descriptor(bits), {16, 32, 2, false});
  ASSERT_EQ(chunks.size(), 32U);
  EXPECT_EQ(chunks[0], 1024U);
  EXPECT_EQ(chunks[2], 1024U + 128 + 16);      // row 1: its first chunk lies in the second place
  EXPECT_EQ(chunks[3], 1024U + 128);
  EXPECT_EQ(chunks[16], 2048U);                // row 8: the next pattern
  EXPECT_EQ(merged(chunks).size(), 15U);     // rows 7 and 8 adjoin
}

TEST(MatrixDescriptor, TransposedOperandsRunAlongTheRows) {
  const uint64_t bits = 1024 >> 4 | uint64_t{4096 >> 4} << 16 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
  const auto ranges = merged(chunks_of(wgmma_descriptor(bits), {128, 32, 2, true}));
  ASSERT_EQ(ranges.size(), 2U);  // 64 rows of 16 K are one piece of 2048 bytes; the next 64 lie `leading` further
  EXPECT_EQ(ranges[0], std::make_pair(1024U, 2048U));
  EXPECT_EQ(ranges[1], std::make_pair(1024U + 4096, 2048U));
}

TEST(TensorMath, RoundsOnceToTheNearest) {
  EXPECT_EQ(encode_result(ElementFormat::kF16, 2049, false), 0x6800U);  // ties to even
  EXPECT_EQ(encode_result(ElementFormat::kF16, 65520, false), 0x7c00U);
  EXPECT_EQ(encode_result(ElementFormat::kF16, 5.9604644775390625e-08, false), 1U);
  EXPECT_EQ(decode_element(ElementFormat::kE4m3, 0x7e), 448.0F);
  EXPECT_EQ(decode_element(ElementFormat::kE5m2, 0x3c), 1.0F);
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    EXPECT_EQ(encode_result(ElementFormat::kF16, decode_element(ElementFormat::kF16, bits), false), bits);
  }
}

}  // namespace
}  // namespace warpcheck::ptx
