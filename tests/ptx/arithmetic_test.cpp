// Instructions one by one: what they leave in a register, lane 0 of one warp.
#include <gtest/gtest.h>

#include "kernel.h"

namespace warpcheck::ptx {
namespace {

struct Arithmetic {
  const char* name;
  const char* body;     // leaves its result in %r0
  uint32_t expected;
};

class Computes : public ::testing::TestWithParam<Arithmetic> {};

TEST_P(Computes, WhatPtxSays) {
  const std::string body = std::string(GetParam().body) + "\nld.param.u64 %rd0, [out]; st.global.u32 [%rd0], %r0; ret;";
  EXPECT_EQ(testing::result(body, 1, 1)[0], GetParam().expected);
}

const Arithmetic kArithmetic[] = {
    {"Add", "mov.u32 %r1, 0xffffffff; add.u32 %r0, %r1, 2;", 1},
    {"SubSigned", "mov.u32 %r1, 3; sub.s32 %r0, %r1, 5;", 0xfffffffe},
    {"MulLo", "mov.u32 %r1, 0x10001; mul.lo.u32 %r0, %r1, %r1;", 0x20001},
    {"MulHiSigned", "mov.s32 %r1, -2; mul.hi.s32 %r0, %r1, 3;", 0xffffffff},
    {"MulHiUnsigned", "mov.u32 %r1, 0xfffffffe; mul.hi.u32 %r0, %r1, 3;", 2},
    {"MulWideSigned", "mov.s32 %r1, -2; mul.wide.s32 %rd1, %r1, 4; shr.u64 %rd2, %rd1, 32; cvt.u32.u64 %r0, %rd2;", 0xffffffff},
    {"MulWideShort", "mov.u16 %h1, 0xffff; mul.wide.u16 %r0, %h1, 2;", 0x1fffe},
    {"MadLo", "mov.u32 %r1, 6; mad.lo.s32 %r0, %r1, 7, -2;", 40},
    {"MadWide", "mov.u32 %r1, -1; mov.u64 %rd1, 1; mad.wide.u32 %rd2, %r1, 2, %rd1; shr.u64 %rd2, %rd2, 32; cvt.u32.u64 %r0, %rd2;", 1},
    {"DivSigned", "mov.s32 %r1, -7; div.s32 %r0, %r1, 2;", 0xfffffffd},
    {"DivMostNegative", "mov.u32 %r1, 0x80000000; div.s32 %r0, %r1, -1;", 0x80000000},
    {"RemSigned", "mov.s32 %r1, -7; rem.s32 %r0, %r1, 2;", 0xffffffff},
    {"And", "mov.u32 %r1, 12; and.b32 %r0, %r1, -6;", 8},
    {"Xor", "mov.u32 %r1, 12; xor.b32 %r0, %r1, 10;", 6},
    {"NotShort", "mov.b16 %h1, 0x00ff; not.b16 %h2, %h1; cvt.u32.u16 %r0, %h2;", 0xff00},
    {"ShlTooFar", "mov.u32 %r1, 1; shl.b32 %r0, %r1, 32;", 0},
    {"ShrSigned", "mov.s32 %r1, -8; shr.s32 %r0, %r1, 1;", 0xfffffffc},
    {"ShrSignedTooFar", "mov.s32 %r1, -8; shr.s32 %r0, %r1, 77;", 0xffffffff},
    {"ShrUnsigned", "mov.s32 %r1, -8; shr.u32 %r0, %r1, 28;", 15},
    {"MinSigned", "mov.s32 %r1, -8; min.s32 %r0, %r1, 3;", 0xfffffff8},
    {"MaxUnsigned", "mov.s32 %r1, -8; max.u32 %r0, %r1, 3;", 0xfffffff8},
    {"Abs", "mov.s32 %r1, -8; abs.s32 %r0, %r1;", 8},
    {"Popc", "mov.u64 %rd1, 0xff00ff00ff; popc.b64 %r0, %rd1;", 24},
    {"Clz", "mov.u32 %r1, 0x10; clz.b32 %r0, %r1;", 27},
    {"Brev", "mov.u32 %r1, 1; brev.b32 %r0, %r1;", 0x80000000},
    {"Bfind", "mov.u32 %r1, 0x50; bfind.u32 %r0, %r1;", 6},
    {"BfeUnsigned", "mov.u32 %r1, 0xabcd; bfe.u32 %r0, %r1, 4, 8;", 0xbc},
    {"BfeSigned", "mov.u32 %r1, 0xabcd; bfe.s32 %r0, %r1, 4, 8;", 0xffffffbc},
    {"Bfi", "mov.u32 %r1, 0xf; mov.u32 %r2, 0xaaaa; bfi.b32 %r0, %r1, %r2, 4, 8;", 0xa0fa},
    {"Prmt", "mov.u32 %r1, 0x33221100; mov.u32 %r2, 0x77665544; prmt.b32 %r0, %r1, %r2, 0x7531;", 0x77553311},
    {"Lop3", "mov.u32 %r1, 0xf0; mov.u32 %r2, 0xcc; mov.u32 %r3, 0xaa; lop3.b32 %r0, %r1, %r2, %r3, 0xe8;", 0xe8},
    {"ShfLeft", "mov.u32 %r1, 0x80000000; mov.u32 %r2, 1; shf.l.wrap.b32 %r0, %r1, %r2, 33;", 3},
    {"ShfRight", "mov.u32 %r1, 2; mov.u32 %r2, 1; shf.r.clamp.b32 %r0, %r1, %r2, 1;", 0x80000001},
    {"SetpSigned", "mov.s32 %r1, -1; setp.lt.s32 %p1, %r1, 0; selp.u32 %r0, 1, 2, %p1;", 1},
    {"SetpUnsigned", "mov.s32 %r1, -1; setp.lt.u32 %p1, %r1, 0; selp.u32 %r0, 1, 2, %p1;", 2},
    {"SetpPair", "mov.u32 %r1, 4; setp.eq.s32 %p1|%p2, %r1, 4; selp.u32 %r0, 1, 2, %p2;", 2},
    {"SetpAndNot", "mov.u32 %r1, 4; setp.eq.s32 %p1, %r1, 4; setp.gt.and.s32 %p2, %r1, 1, !%p1; selp.u32 %r0, 1, 2, %p2;", 2},
    {"SetpHigh", "mov.s32 %r1, -1; setp.hi.u32 %p1, %r1, 5; selp.u32 %r0, 1, 2, %p1;", 1},
    {"PredicateXor", "mov.pred %p1, -1; mov.pred %p2, 0; xor.pred %p3, %p1, %p2; selp.u32 %r0, 1, 2, %p3;", 1},
    {"CvtSignExtends", "mov.b16 %h1, 0x8000; cvt.s32.s16 %r0, %h1;", 0xffff8000},
    {"CvtTruncates", "mov.u32 %r1, 0x1ff; cvt.u8.u32 %r0, %r1;", 0xff},
    {"CvtFillsAWiderRegister", "mov.u32 %r1, 65535; cvt.s16.u32 %r0, %r1;", 0xffffffff},
    {"CvtSaturatesAndFills", "mov.s32 %r1, -500; cvt.sat.s8.s32 %r0, %r1;", 0xffffff80},
    {"CvtFromFloatFills", "mov.f32 %f1, 0fC0200000; cvt.rzi.s16.f32 %r0, %f1;", 0xfffffffe},
    {"CvtUnsignedFillsWithZeros", "mov.u32 %r1, 0x1ffff; cvt.u16.u32 %r0, %r1;", 0xffff},
    {"CvtSaturates", "mov.s32 %r1, -5; cvt.sat.u8.s32 %r0, %r1;", 0},
    {"CvtFromFloat", "mov.f32 %f1, 0fC0200000; cvt.rzi.s32.f32 %r0, %f1;", 0xfffffffe},
    {"CvtToFloat", "mov.s32 %r1, -3; cvt.rn.f32.s32 %f1, %r1; mov.b32 %r0, %f1;", 0xc0400000},
    {"FloatAdd", "mov.f32 %f1, 0f3F800000; add.f32 %f2, %f1, 0f3F800000; mov.b32 %r0, %f2;", 0x40000000},
    {"FloatFma", "mov.f32 %f1, 0f40000000; fma.rn.f32 %f2, %f1, %f1, %f1; mov.b32 %r0, %f2;", 0x40c00000},
    {"FloatAddTowardsZero", "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f33C00000; add.rz.f32 %f3, %f1, %f2; mov.b32 %r0, %f3;", 0x3f800000},
    {"FloatAddUpwards", "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f2B000000; add.rp.f32 %f3, %f1, %f2; mov.b32 %r0, %f3;", 0x3f800001},
    {"SetpFlushes", "mov.b32 %f1, 1; mov.f32 %f2, 0f00000000; setp.gt.ftz.f32 %p1, %f1, %f2; selp.u32 %r0, 1, 2, %p1;", 2},
    {"SetpKeepsSubnormals", "mov.b32 %f1, 1; mov.f32 %f2, 0f00000000; setp.gt.f32 %p1, %f1, %f2; selp.u32 %r0, 1, 2, %p1;", 1},
    {"SetFlushes", "mov.b32 %f1, 1; mov.f32 %f2, 0f00000000; set.gt.ftz.u32.f32 %r0, %f1, %f2;", 0},
    {"ApproximationsFlush", "mov.b32 %f1, 1; sqrt.approx.ftz.f32 %f2, %f1; mov.b32 %r0, %f2;", 0},
    {"HalfSetpFlushes", "mov.b16 %h1, 1; mov.b16 %h2, 0; setp.gt.ftz.f16 %p1, %h1, %h2; selp.u32 %r0, 1, 2, %p1;", 2},
    {"HalfSetpKeepsSubnormals", "mov.b16 %h1, 1; mov.b16 %h2, 0; setp.gt.f16 %p1, %h1, %h2; selp.u32 %r0, 1, 2, %p1;", 1},
    {"HalfNegateFlushes", "mov.b32 %r1, 0x80013c00; neg.ftz.f16x2 %r0, %r1;", 0x0000bc00},
    {"HalfAbsFlushes", "mov.b32 %r1, 0x80013c00; abs.ftz.f16x2 %r0, %r1;", 0x00003c00},
    {"FloatMulSaturates", "mov.f32 %f1, 0f40000000; mul.sat.f32 %f2, %f1, %f1; mov.b32 %r0, %f2;", 0x3f800000},
    {"FloatDivDownwards", "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40400000; div.rm.f32 %f3, %f1, %f2; mov.b32 %r0, %f3;", 0x3eaaaaaa},
    {"FloatDivUpwards", "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40400000; div.rp.f32 %f3, %f1, %f2; mov.b32 %r0, %f3;", 0x3eaaaaab},
    {"FloatMinIgnoresNaN", "mov.f32 %f1, 0f7FFFFFFF; mov.f32 %f2, 0f40400000; min.f32 %f3, %f1, %f2; mov.b32 %r0, %f3;", 0x40400000},
    {"FloatMinKeepsNaN", "mov.f32 %f1, 0f7FFFFFFF; mov.f32 %f2, 0f40400000; min.NaN.f32 %f3, %f1, %f2; mov.b32 %r0, %f3;", 0x7fffffff},
    {"FloatMinOfThree", "mov.f32 %f1, 0f40400000; min.f32 %f3, %f1, 0f40000000, 0f3F800000; mov.b32 %r0, %f3;", 0x3f800000},
    {"FloatMinOfZeros", "mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f80000000; min.f32 %f3, %f1, %f2; mov.b32 %r0, %f3;", 0x80000000},
    {"HalfAdd", "mov.b16 %h1, 0x3c00; mov.b16 %h2, 0x3800; add.f16 %h3, %h1, %h2; cvt.u32.u16 %r0, %h3;", 0x3e00},
    {"HalfAddRoundsToEven", "mov.b16 %h1, 0x6800; mov.b16 %h2, 0x3c00; add.f16 %h3, %h1, %h2; cvt.u32.u16 %r0, %h3;", 0x6800},
    {"HalfPairFma", "mov.b32 %r1, 0x40003c00; fma.rn.f16x2 %r0, %r1, %r1, %r1;", 0x46004000},
    // 1.0009765625 * 1.0009765625 - 2^-24 lies just below a middle.
    {"HalfFmaRoundsOnce", "mov.b16 %h1, 0x3c01; mov.b16 %h2, 0x0001; fma.rn.f16 %h3, %h1, %h1, %h2; cvt.u32.u16 %r0, %h3;", 0x3c02},
    {"HalfOverflows", "mov.b16 %h1, 0x7bff; add.f16 %h3, %h1, %h1; cvt.u32.u16 %r0, %h3;", 0x7c00},
    {"HalfSubnormal", "mov.b16 %h1, 0x0001; mov.b16 %h2, 0x3800; mul.f16 %h3, %h1, %h2; cvt.u32.u16 %r0, %h3;", 0},
    {"HalfRelu", "mov.b16 %h1, 0xbc00; fma.rn.relu.f16 %h3, %h1, %h1, %h1; fma.rn.relu.f16 %h4, %h3, %h1, %h1; cvt.u32.u16 %r0, %h4;", 0},
    {"BfloatMul", "mov.b16 %h1, 0x3fc0; mul.bf16 %h3, %h1, %h1; cvt.u32.u16 %r0, %h3;", 0x4010},
    {"BfloatPairMax", "mov.b32 %r1, 0x3f804000; mov.b32 %r2, 0x40003f80; max.bf16x2 %r0, %r1, %r2;", 0x40004000},
    {"HalfNegate", "mov.b32 %r1, 0x3c00bc00; neg.f16x2 %r0, %r1;", 0xbc003c00},
    {"HalfSetp", "mov.b32 %r1, 0x3c004000; mov.b32 %r2, 0x40003c00; setp.lt.f16x2 %p1|%p2, %r1, %r2; selp.u32 %r3, 1, 0, %p1; selp.u32 %r0, 2, %r3, %p2;", 2},
    {"CvtHalfFromFloat", "mov.f32 %f1, 0f3F801000; cvt.rn.f16.f32 %h1, %f1; cvt.u32.u16 %r0, %h1;", 0x3c00},
    {"CvtHalfFromFloatUp", "mov.f32 %f1, 0f3F800001; cvt.rz.f16.f32 %h1, %f1; cvt.u32.u16 %r0, %h1;", 0x3c00},
    {"CvtHalfPair", "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; cvt.rn.f16x2.f32 %r0, %f1, %f2;", 0x3c004000},
    {"CvtBfloatPair", "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F808000; cvt.rn.bf16x2.f32 %r0, %f1, %f2;", 0x3f803f80},
    {"CvtFloatFromHalf", "mov.b16 %h1, 0x3555; cvt.f32.f16 %f1, %h1; mov.b32 %r0, %f1;", 0x3eaaa000},
    {"CvtIntegerFromHalf", "mov.b16 %h1, 0xc100; cvt.rzi.s32.f16 %r0, %h1;", 0xfffffffe},
    {"CvtHalfFromInteger", "mov.u32 %r1, 4097; cvt.rn.f16.u32 %h1, %r1; cvt.u32.u16 %r0, %h1;", 0x6c00},
    {"CvtTf32", "mov.f32 %f1, 0f3F801FFF; cvt.rna.tf32.f32 %r0, %f1;", 0x3f802000},
    {"CvtE4m3", "mov.f32 %f1, 0f43FA0000; mov.f32 %f2, 0f3F800000; cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2; cvt.u32.u16 %r0, %h1;", 0x7e38},
    {"CvtFromE5m2", "mov.b16 %h1, 0x3c40; cvt.rn.f16x2.e5m2x2 %r0, %h1;", 0x3c004000},
    {"CvtFloatToWhole", "mov.f32 %f1, 0fC0200000; cvt.rmi.f32.f32 %f2, %f1; mov.b32 %r0, %f2;", 0xc0400000},
    {"CvtFloatFromLongTowardsZero", "mov.u64 %rd1, 0x1ffffffffffffff; cvt.rz.f32.u64 %f1, %rd1; mov.b32 %r0, %f1;", 0x5bffffff},
    {"CvtFloatSaturates", "mov.f32 %f1, 0f40000000; cvt.sat.f32.f32 %f2, %f1; mov.b32 %r0, %f2;", 0x3f800000},
    {"CvtPack", "mov.s32 %r1, 300; mov.s32 %r2, -4; cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, 0x1234;", 0x1234ff00},
    {"Exp2IsTheHosts", "mov.f32 %f1, 0f40400000; ex2.approx.ftz.f32 %f2, %f1; cvt.rni.u32.f32 %r0, %f2;", 8},
    {"TanhOfHalves", "mov.b32 %r1, 0; tanh.approx.f16x2 %r0, %r1;", 0},
    {"CopySign", "mov.f32 %f1, 0f80000000; mov.f32 %f2, 0f3F800000; copysign.f32 %f3, %f1, %f2; mov.b32 %r0, %f3;", 0xbf800000},
    {"Testp", "mov.f32 %f1, 0f7F800000; testp.infinite.f32 %p1, %f1; selp.u32 %r0, 1, 2, %p1;", 1},
    {"PackAndUnpack", "mov.u32 %r1, 1; mov.u32 %r2, 2; mov.b64 %rd1, {%r1, %r2}; mov.b64 {%r3, %r4}, %rd1; shl.b32 %r3, %r3, 4; or.b32 %r0, %r3, %r4;", 0x12},
    {"Predicated", "mov.u32 %r0, 1; mov.pred %p1, 0; @%p1 mov.u32 %r0, 2; @!%p1 add.u32 %r0, %r0, 4;", 5},
    {"SharedBytes", ".shared .b8 s[8]; mov.u32 %r1, -2; st.shared.u8 [s+3], %r1; ld.shared.s8 %r0, [s+3];", 0xfffffffe},
    {"GenericShared", ".shared .u32 s; mov.u32 %r1, 9; st.shared.u32 [s], %r1; mov.u64 %rd1, s; cvta.shared.u64 %rd2, %rd1; ld.u32 %r0, [%rd2];", 9},
    {"Vectors", ".shared .align 16 .b32 s[4]; st.shared.v4.b32 [s], {1, 2, 3, 4}; ld.shared.v2.b32 {%r1, %r2}, [s+8]; sub.s32 %r0, %r2, %r1;", 1},
    {"Local", ".local .align 8 .b8 d[16]; mov.u64 %rd1, d; cvta.local.u64 %rd2, %rd1; st.u32 [%rd2+4], 7; ld.local.u32 %r0, [%rd1+4];", 7},
    {"IndexedBranch", "mov.u32 %r1, 1; ts: .branchtargets A, B; brx.idx %r1, ts; A: mov.u32 %r0, 5; B: mov.u32 %r0, 6;", 6},
    {"Mapa", "mov.u32 %r1, 1024; mapa.shared::cluster.u32 %r0, %r1, 0;", 0x01000400},
};

INSTANTIATE_TEST_SUITE_P(Instruction, Computes, ::testing::ValuesIn(kArithmetic), [](const auto& tested) { return std::string(tested.param.name); });

TEST(Instruction, SpecialRegistersNumberTheLaunch) {
  LaunchSpec spec = testing::launch(40, 40);
  spec.block = {8, 5, 1};
  spec.buffers[0].expect = Contents{};
  for (uint64_t i = 0; i < 40; ++i) spec.buffers[0].expect->elements.emplace_back(i % 8 + 100 * (i / 8) + 10000 * (i % 32));
  const auto result = testing::check(
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %laneid; mov.u32 %r4, %ntid.x;\n"
      "mad.lo.u32 %r5, %r2, 100, %r1; mad.lo.u32 %r5, %r3, 10000, %r5; mad.lo.u32 %r6, %r2, %r4, %r1;\n"
      "ld.param.u64 %rd0, [out]; mul.wide.u32 %rd1, %r6, 4; add.s64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r5; ret;",
      spec);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << testing::describe(result);
}

}  // namespace
}  // namespace warpcheck::ptx
