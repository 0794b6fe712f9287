// Tags of values, uninitialized and opaque, on their way through memory; expectations of values that are not computed.
#include <gtest/gtest.h>

#include "kernel.h"

namespace warpcheck::ptx {
namespace {

using testing::check;
using testing::describe;
using testing::errors;
using testing::launch;
using testing::result;

const std::string kMemory = ".local .align 8 .b8 l[16]; .shared .align 16 .b8 s[16]; ld.param.u64 %rd0, [out];\n";
const std::string kDecide = " setp.eq.u32 %p1, %r2, 12345; @%p1 trap; ret;";

ExploreResult decide(const std::string& body) { return check(kMemory + body + kDecide, launch(1, 4)); }

TEST(Values, OpaqueOnesStayOpaqueInMemory) {
  for (const char* body : {
           "mov.u32 %r1, %clock; st.local.u32 [l], %r1; ld.local.u32 %r2, [l];",
           "mov.u32 %r1, %clock; st.local.u32 [l], %r1; ld.volatile.local.u32 %r2, [l];",
           "mov.u32 %r1, %clock; mov.u32 %r3, 1; st.local.v2.u32 [l], {%r3, %r1}; ld.local.u32 %r2, [l+4];",
           "mov.u32 %r1, %clock; st.shared.u32 [s], %r1; ld.shared.u32 %r2, [s];",
           "mov.u32 %r1, %clock; st.shared.u32 [s], %r1; ld.volatile.shared.u32 %r2, [s];",
           "mov.u32 %r1, %clock; st.shared.u32 [s], %r1; ld.acquire.gpu.shared.u32 %r2, [s];",
           "mov.u32 %r1, %clock; st.shared.u32 [s], %r1; atom.shared.or.b32 %r2, [s], 0;",
           "mov.u32 %r1, %clock; st.shared.u32 [s], %r1; atom.shared.exch.b32 %r2, [s], 1;",
           "mov.u32 %r1, %clock; st.shared.u32 [s], %r1; atom.shared.cas.b32 %r2, [s], 1, 2;",
           // what an update makes of it is as opaque
           "mov.u32 %r1, %clock; st.shared.u32 [s], %r1; red.shared.add.u32 [s], 1; ld.shared.u32 %r2, [s];",
           "mov.u32 %r1, %clock; st.shared.u32 [s], %r1; atom.shared.cas.b32 %r3, [s], 1, 2; ld.shared.u32 %r2, [s];",
           "mov.u32 %r1, %clock; st.shared.u8 [s+3], %r1; mov.u32 %r3, 0; st.shared.u8 [s+2], %r3; st.shared.u16 [s], %r3; red.shared.add.u32 [s], 1; ld.volatile.shared.u8 %r2, [s];"}) {
    const auto result = decide(body);
    EXPECT_EQ(result.verdict, Verdict::kIncomplete) << body << describe(result);
    EXPECT_FALSE(errors(result, FindingKind::kUnsupported).empty()) << body << describe(result);
  }
}

TEST(Values, ThatWereOverwrittenAreKnown) {
  for (const char* body : {
           "mov.u32 %r1, %clock; st.local.u32 [l], %r1; mov.u32 %r1, 1; st.local.u32 [l], %r1; ld.local.u32 %r2, [l];",
           "mov.u32 %r1, %clock; mov.u32 %r3, 1; st.local.v2.u32 [l], {%r3, %r1}; ld.local.v2.u32 {%r2, %r4}, [l];",
           "mov.u32 %r1, %clock; st.shared.u32 [s], %r1; atom.shared.exch.b32 %r3, [s], 1; ld.volatile.shared.u32 %r2, [s];",
           "mov.u32 %r1, %clock; st.shared.u32 [s], %r1; mov.u32 %r3, 1; st.shared.u32 [s+4], %r3; ld.shared.v2.u32 {%r4, %r2}, [s];"}) {
    const auto result = decide(body);
    EXPECT_EQ(result.verdict, Verdict::kVerified) << body << describe(result);
  }
}

TEST(Values, UninitializedOnesAreReportedFromEveryMemory) {
  for (const char* body : {
           "ld.local.u32 %r2, [l];",
           "mov.u32 %r1, 1; st.local.u8 [l], %r1; ld.local.u32 %r2, [l];",
           // copied about in local memory first
           "ld.local.u32 %r1, [l]; st.local.u32 [l+4], %r1; ld.local.u32 %r2, [l+4];",
           "ld.volatile.shared.u32 %r2, [s];",
           "mov.u32 %r1, 1; st.shared.u8 [s], %r1; ld.volatile.shared.u32 %r2, [s];",
           "atom.shared.or.b32 %r2, [s], 0;", "atom.shared.add.u32 %r2, [s], 1;", "atom.shared.cas.b32 %r2, [s], 0, 1;",
           "red.shared.add.u32 [s], 1; ld.shared.u32 %r2, [s];",
           // beside an opaque one
           "mov.u32 %r1, %clock; st.shared.u32 [s], %r1; ld.shared.v2.u32 {%r1, %r2}, [s];"}) {
    const auto result = decide(body);
    EXPECT_FALSE(errors(result, FindingKind::kUninitializedRead).empty()) << body << describe(result);
  }
}

TEST(Values, MayBeCopiedUninitializedInLocalMemory) {
  const auto result = check(kMemory + "mov.u32 %r1, 7; st.local.u32 [l], %r1; ld.local.v2.u32 {%r3, %r4}, [l]; st.local.v2.u32 [l+8], {%r3, %r4}; ld.local.u32 %r2, [l+8];" + kDecide, launch(1, 4));
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
}

TEST(Expectations, OfOpaqueElementsAreNotCompared) {
  LaunchSpec spec = launch(1, 2);
  spec.buffers[0].expect = Contents{};
  spec.buffers[0].expect->elements = {5, 0};
  const std::string store = "ld.param.u64 %rd0, [out]; mov.u32 %r1, 5; st.global.u32 [%rd0], %r1; mov.u32 %r2, %clock; and.b32 %r2, %r2, 0;";
  const auto opaque = check(store + " st.global.u32 [%rd0+4], %r2; ret;", spec);
  EXPECT_EQ(opaque.verdict, Verdict::kIncomplete) << describe(opaque);
  EXPECT_FALSE(errors(opaque, FindingKind::kUnsupported).empty()) << describe(opaque);
  const auto byte = check(store + " st.global.u8 [%rd0+7], %r2; ret;", spec);
  EXPECT_EQ(byte.verdict, Verdict::kIncomplete) << describe(byte);
  // An opaque element elsewhere hides no wrong result.
  spec.buffers[0].expect->elements = {6, std::nullopt};
  const auto wrong = check(store + " st.global.u32 [%rd0+4], %r2; ret;", spec);
  EXPECT_FALSE(errors(wrong, FindingKind::kWrongResult).empty()) << describe(wrong);
}

TEST(Values, ManyThatRestOnFewLoadsAreFollowedQuickly) {
  std::string body = "ld.param.u64 %rd0, [out]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; ld.global.u32 %r2, [%rd0]; ld.global.u32 %r3, [%rd0+4];\n";
  for (int i = 0; i < 60; ++i) body += "add.u32 %r2, %r2, %r3; xor.b32 %r3, %r3, %r2;\n";
  const auto result = check(body + "@%p1 st.global.u32 [%rd0+8], %r3; ret;", launch(32, 4));
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
}

}  // namespace
}  // namespace warpcheck::ptx
