#include "frontends/ptx/launch_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "frontends/ptx/command_line_launch.h"
#include "model/machine.h"

namespace warpcheck::ptx {
namespace {

const Origin kOrigin{"test", 1};

uint64_t bits(const std::string& type, Number number) {
  return encode(number, parse_element_type(type, kOrigin), kOrigin);
}

TEST(LaunchValues, HalfFloatsRoundToNearestEven) {
  EXPECT_EQ(bits("f16", 1.0), 0x3c00U);
  EXPECT_EQ(bits("f16", -2.0), 0xc000U);
  EXPECT_EQ(bits("f16", 65504.0), 0x7bffU);
  EXPECT_EQ(bits("f16", 65520.0), 0x7c00U);  // rounds to infinity
  EXPECT_EQ(bits("f16", 65519.0), 0x7bffU);
  EXPECT_EQ(bits("f16", std::ldexp(1.0, -24)), 1U);
  EXPECT_EQ(bits("f16", std::ldexp(1.0, -25)), 0U);  // half of the smallest: to even
  EXPECT_EQ(bits("f16", std::ldexp(1.5, -25)), 1U);
  EXPECT_EQ(bits("f16", std::ldexp(1023.9, -24)), 0x400U);  // into the normal range
  EXPECT_EQ(bits("f16", int64_t{2049}), 0x6800U);           // 2048: to even
  EXPECT_EQ(bits("f16", int64_t{2051}), 0x6802U);
  EXPECT_EQ(bits("f16", 0.0), 0U);
  EXPECT_EQ(bits("f16", std::numeric_limits<double>::infinity()), 0x7c00U);
  EXPECT_EQ(bits("f16", std::nan("")) & 0x7c00U, 0x7c00U);
  EXPECT_EQ(bits("bf16", 1.0), 0x3f80U);
  EXPECT_EQ(bits("bf16", 1.0 + 1.0 / 256), 0x3f80U);
  EXPECT_EQ(bits("bf16", 1.0 + 3.0 / 256), 0x3f82U);
}

TEST(LaunchValues, IntegersMustFit) {
  EXPECT_EQ(bits("s8", int64_t{-128}), 0x80U);
  EXPECT_EQ(bits("b8", int64_t{255}), 0xffU);
  EXPECT_EQ(bits("b8", int64_t{-1}), 0xffU);
  EXPECT_EQ(bits("s64", std::numeric_limits<int64_t>::min()), 1ULL << 63);
  EXPECT_THROW(bits("s8", int64_t{128}), InputError);
  EXPECT_THROW(bits("u16", int64_t{-1}), InputError);
  EXPECT_THROW(bits("u64", int64_t{-1}), InputError);
  EXPECT_THROW(bits("s32", 1.0), InputError);
}

TEST(LaunchValues, ReadsNumbers) {
  EXPECT_EQ(parse_number("12"), Number(int64_t{12}));
  EXPECT_EQ(parse_number("-12"), Number(int64_t{-12}));
  EXPECT_EQ(parse_number("0x1F"), Number(int64_t{31}));
  EXPECT_EQ(parse_number("2.5"), Number(2.5));
  EXPECT_EQ(parse_number(""), std::nullopt);
  EXPECT_EQ(parse_number("1x"), std::nullopt);
  EXPECT_EQ(parse_number("--1"), std::nullopt);
}

LaunchSpec launch(std::vector<std::string> args) {
  LaunchFlags flags;
  flags.args = std::move(args);
  return command_line_launch("k.ptx", flags);
}

TEST(CommandLineLaunch, ReadsArguments) {
  const LaunchSpec spec = launch({"in=s32[4]:iota", "out=f32[2]", "n=s32:-8", "some=u8[4]:1,_,3", "x=f32:1.5"});
  ASSERT_EQ(spec.args.size(), 5U);
  EXPECT_EQ(spec.buffers[0].init.elements.size(), 4U);
  EXPECT_TRUE(spec.buffers[1].init.elements.empty());
  EXPECT_EQ(spec.args[2].value, 0xfffffff8U);
  EXPECT_EQ(spec.buffers[2].init.elements, (std::vector<std::optional<uint64_t>>{1, std::nullopt, 3}));
  EXPECT_EQ(spec.args[4].value, 0x3fc00000U);
}

TEST(CommandLineLaunch, RefusesArguments) {
  for (const char* arg : {"in", "=s32:1", "in=s32", "in=s32[4]:bogus", "in=s33[4]:iota", "n=s32:x", "n=s32:",
                          "in=s32[2]:1,2,3", "in=s32[1000000000000]:zero", "in=s32[4]:none.npy", "in=s32[4]:1,,2"}) {
    EXPECT_THROW(launch({arg}), InputError) << arg;
  }
  EXPECT_THROW(launch({"a=s32:1", "a=s32:2"}), InputError);
}

}  // namespace
}  // namespace warpcheck::ptx
