// Fragments of matrices: mma against a product in plain loops for every shape, ldmatrix, stmatrix and movmatrix.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "frontends/ptx/float_format.h"
#include "kernel.h"

namespace warpcheck::ptx {
namespace {

using testing::check;
using testing::describe;
using testing::errors;
using testing::launch;
using testing::result;

const std::string kStore = "\nld.param.u64 %rd0, [out]; mov.u32 %r30, %tid.x; mul.wide.u32 %rd1, %r30, 4; add.s64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r0; ret;";
const std::string kTile = ".shared .align 16 .b8 s[512]; mov.u32 %r1, %laneid; mov.u32 %r2, s; and.b32 %r3, %r1, 7; mad.lo.u32 %r4, %r3, 16, %r2;\n"
                          "shl.b32 %r5, %r1, 17; shl.b32 %r6, %r1, 1; add.u32 %r5, %r5, 0x10000; or.b32 %r5, %r5, %r6;\n";  // elements 2*lane, 2*lane+1

TEST(Matrix, StoredAndLoadedBackIsTheSame) {
  const auto out = result(kTile + "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%r5}; bar.warp.sync -1;\n"
                          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r4];" + kStore, 32, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 2 * i | (2 * i + 1) << 16);
}

TEST(Matrix, TransposesAlike) {
  const std::string ways[] = {
      kTile + "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%r5}; bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r0}, [%r4];",
      kTile + "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r4], {%r5}; bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r4];",
      kTile + "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r5;"};
  for (const std::string& way : ways) {
    const auto out = result(way + kStore, 32, 32);
    for (uint32_t i = 0; i < 32; ++i) {
      const uint32_t row = 2 * (i % 4), column = i / 4;
      ASSERT_EQ(out[i], (8 * row + column) | (8 * (row + 1) + column) << 16) << way;
    }
  }
}

TEST(Matrix, FourAtOnceHaveARowALane) {
  const std::string body = kTile + "mad.lo.u32 %r4, %r1, 16, %r2; st.shared.v4.b32 [%r4], {%r1, %r1, %r1, %r1}; bar.warp.sync -1;\n"
                           "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r4]; mad.lo.u32 %r0, %r9, 100, %r8;";
  const auto out = result(body + kStore, 32, 32);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], (24 + i / 4) * 100 + 16 + i / 4);
}

TEST(Matrix, ExchangedWithoutSyncwarpRacesInTheStrictReadingAlone) {
  const std::string body = kTile + "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%r5}; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r0}, [%r4];" + kStore;
  const auto collective = check(body, launch(32, 32));
  EXPECT_EQ(collective.verdict, Verdict::kVerified) << describe(collective);
  ASSERT_EQ(collective.findings.size(), 1U) << describe(collective);
  EXPECT_TRUE(collective.findings[0].finding.strict);
  // An ordinary store by other lanes is an error.
  const auto plain = check(kTile + "mad.lo.u32 %r6, %r3, 16, %r2; setp.lt.u32 %p1, %r1, 8; @%p1 st.shared.v4.b32 [%r6], {1, 2, 3, 4};\n"
                           "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r4];" + kStore, launch(32, 32));
  EXPECT_FALSE(errors(plain, FindingKind::kRace).empty()) << describe(plain);
}

// mma: A, B and C are filled by formulas of row and column that kernels compute from the documented fragment layout of the
// shape, written down here independently for each.
struct Shape {
  const char* name;
  const char* types;       // d.a.b.c
  uint32_t m, k, bits;     // of an element of A and B
  bool is_float, half_accumulator, double_accumulator;
};

uint64_t encode_element(const Shape& s, int value) {
  const std::string types = s.types;
  if (!s.is_float) return static_cast<uint64_t>(value) & ((1ULL << s.bits) - 1);
  if (s.bits == 64) return encode_float(Format::kF64, value);
  if (s.bits == 32) return encode_float(Format::kF32, value);
  return encode_float(types.find("bf16") != std::string::npos ? Format::kBf16 : types.find("e4m3") != std::string::npos ? Format::kE4m3 : Format::kF16, value);
}

int a_at(const Shape& s, uint32_t row, uint32_t column) { return s.bits == 1 ? static_cast<int>((row * 3 + column * 5) % 2) : static_cast<int>((row * 3 + column) % 4) - (s.bits < 8 ? 0 : 1); }
int b_at(const Shape& s, uint32_t row, uint32_t column) { return s.bits == 1 ? static_cast<int>((row + column * 7) % 3 == 0) : static_cast<int>((row + column * 5) % 3); }
int c_at(uint32_t row, uint32_t column) { return static_cast<int>(row + 2 * column) % 5; }

class Mma : public ::testing::TestWithParam<Shape> {};

TEST_P(Mma, IsTheProductOfItsFragments) {
  const Shape& s = GetParam();
  const uint32_t per = s.bits == 64 ? 1 : 32 / s.bits, n = 8;
  const bool wide = s.bits == 64;
  const std::string unit = wide ? "b64" : "b32";
  const uint32_t unit_bytes = wide ? 8 : 4;
  const uint32_t a_registers = s.m * s.k / per / 32, b_registers = n * s.k / per / 32, c_elements = s.m / 4;
  const uint32_t c_registers = s.half_accumulator ? c_elements / 2 : c_elements;
  // `in` holds each lane's registers one after another.
  const uint32_t all = a_registers + b_registers + c_registers;
  std::vector<uint64_t> in(size_t{32} * all, 0);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t g = lane / 4, t = lane % 4;
    for (uint32_t r = 0; r < a_registers; ++r) {
      for (uint32_t i = 0; i < per; ++i) {
        const uint32_t row = s.m == 16 && r % 2 == 1 ? g + 8 : g, pair = s.m == 16 ? r / 2 : r;
        in[lane * all + r] |= encode_element(s, a_at(s, row, t * per + i + pair * 4 * per)) << (i * s.bits % 64);
      }
    }
    for (uint32_t r = 0; r < b_registers; ++r) {
      for (uint32_t i = 0; i < per; ++i) in[lane * all + a_registers + r] |= encode_element(s, b_at(s, t * per + i + r * 4 * per, g)) << (i * s.bits % 64);
    }
    for (uint32_t j = 0; j < c_elements; ++j) {
      const int c = c_at(g + 8 * (j / 2), 2 * t + j % 2);
      uint64_t& into = in[lane * all + a_registers + b_registers + (s.half_accumulator ? j / 2 : j)];
      if (s.half_accumulator) into |= encode_float(Format::kF16, c) << (16 * (j % 2));
      else into = s.double_accumulator ? encode_float(Format::kF64, c) : s.is_float ? encode_float(Format::kF32, c) : static_cast<uint32_t>(c);
    }
  }
  const auto list = [&](char letter, uint32_t count) {
    std::string text = "{";
    for (uint32_t i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", letter, i);
    return text + "}";
  };
  std::string text = fmt::format(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{{\n"
                                 ".reg .{0} %a<9>; .reg .{0} %b<9>; .reg .{0} %c<9>; .reg .{0} %d<9>; .reg .b32 %r<4>; .reg .b64 %q<8>;\n"
                                 "ld.param.u64 %q0, [in]; ld.param.u64 %q1, [out]; mov.u32 %r0, %laneid; mul.wide.u32 %q2, %r0, {1}; add.s64 %q0, %q0, %q2;\n"
                                 "mul.wide.u32 %q3, %r0, {2}; add.s64 %q1, %q1, %q3;\n", unit, all * unit_bytes, c_registers * unit_bytes);
  uint32_t at = 0;
  for (const auto& [letter, count] : {std::pair{'a', a_registers}, std::pair{'b', b_registers}, std::pair{'c', c_registers}}) {
    for (uint32_t i = 0; i < count; ++i) text += fmt::format("ld.global.{} %{}{}, [%q0+{}];\n", unit, letter, i, unit_bytes * at++);
  }
  text += fmt::format("mma.sync.aligned.{}.row.col.{} {}, {}, {}, {};\n", s.name, s.types, list('d', c_registers), list('a', a_registers), list('b', b_registers), list('c', c_registers));
  for (uint32_t i = 0; i < c_registers; ++i) text += fmt::format("st.global.{} [%q1+{}], %d{};\n", unit, unit_bytes * i, i);
  text += "ret;\n}\n";

  LaunchSpec spec = launch(32, size_t{32} * c_registers);
  spec.buffers[0].type = {wide ? "u64" : "u32", unit_bytes, false};
  BufferSpec source = spec.buffers[0];
  source.name = "in";
  source.count = in.size();
  source.init.elements.assign(in.begin(), in.end());
  spec.buffers.push_back(source);
  ArgSpec arg;
  arg.name = arg.buffer = "in";
  spec.args.push_back(arg);
  Contents expected;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    uint64_t packed = 0;
    for (uint32_t j = 0; j < c_elements; ++j) {
      const uint32_t row = lane / 4 + 8 * (j / 2), column = 2 * (lane % 4) + j % 2;
      int sum = c_at(row, column);
      for (uint32_t k = 0; k < s.k; ++k) {
        const int x = a_at(s, row, k), y = b_at(s, k, column);
        sum += s.bits == 1 ? (x ^ y) : x * y;
      }
      if (s.half_accumulator) {
        packed |= encode_float(Format::kF16, sum) << (16 * (j % 2));
        if (j % 2 == 1) expected.elements.emplace_back(std::exchange(packed, 0));
      } else {
        expected.elements.emplace_back(s.double_accumulator ? encode_float(Format::kF64, sum) : s.is_float ? encode_float(Format::kF32, sum) : static_cast<uint32_t>(sum));
      }
    }
  }
  spec.buffers[0].expect = expected;
  const auto program = make_program(spec, text, "k.ptx");
  const ExploreResult made = explore(*program, {.keep_going = true});
  EXPECT_EQ(made.verdict, Verdict::kVerified) << describe(made);
}

const Shape kShapes[] = {
    {"m16n8k16", "f32.f16.f16.f32", 16, 16, 16, true, false, false}, {"m16n8k16", "f16.f16.f16.f16", 16, 16, 16, true, true, false},
    {"m16n8k8", "f32.f16.f16.f32", 16, 8, 16, true, false, false},   {"m16n8k16", "f32.bf16.bf16.f32", 16, 16, 16, true, false, false},
    {"m16n8k4", "f32.tf32.tf32.f32", 16, 4, 32, true, false, false}, {"m16n8k8", "f32.tf32.tf32.f32", 16, 8, 32, true, false, false},
    {"m8n8k4", "f64.f64.f64.f64", 8, 4, 64, true, false, true},      {"m16n8k16", "f64.f64.f64.f64", 16, 16, 64, true, false, true},
    {"m8n8k16", "s32.s8.s8.s32", 8, 16, 8, false, false, false},     {"m16n8k16", "s32.s8.u8.s32", 16, 16, 8, false, false, false},
    {"m16n8k32", "satfinite.s32.s8.s8.s32", 16, 32, 8, false, false, false}, {"m16n8k64", "s32.u4.u4.s32", 16, 64, 4, false, false, false},
    {"m16n8k32", "f32.e4m3.e4m3.f32", 16, 32, 8, true, false, false}, {"m16n8k256", "s32.b1.b1.s32.xor.popc", 16, 256, 1, false, false, false},
};

INSTANTIATE_TEST_SUITE_P(Shapes, Mma, ::testing::ValuesIn(kShapes), [](const auto& tested) {
  std::string name = std::string(tested.param.name) + "_" + tested.param.types;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(MmaRounding, HappensOnce) {
  EXPECT_EQ(encode_float(Format::kF16, sum_to_odd(2049, 0x1p-60)), 0x6801U);  // 2049 and a bit goes up
  EXPECT_EQ(encode_float(Format::kF16, 2049), 0x6800U);                           // a tie goes to even
  EXPECT_EQ(encode_float(Format::kE4m3, 1e9), 0x7eU);
  EXPECT_EQ(encode_float(Format::kE5m2, 1e9), 0x7cU);
  EXPECT_EQ(encode_float(Format::kE5m2, 1e9, Rounding::kNearest, true), 0x7bU);
}

}  // namespace
}  // namespace warpcheck::ptx
