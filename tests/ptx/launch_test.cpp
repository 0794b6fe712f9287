// Launches that do not fit their PTX: one line with the place in the launch file.
#include <gtest/gtest.h>

#include "kernel.h"
#include "frontends/ptx/layout.h"
#include "model/machine.h"

namespace warpcheck::ptx {
namespace {

std::string error_of(const LaunchSpec& spec, const std::string& text) {
  try {
    make_program(spec, text, "k.ptx");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

const std::string kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

TEST(Launch, WantsAsManyArgumentsAsParameters) {
  EXPECT_EQ(error_of(testing::launch(1, 1), kHead + ".entry k(.param .u64 a, .param .u32 b) { ret; }"),
            "k.toml:1: found 1 arguments, expected 2 (the parameters of k)");
}

TEST(Launch, WantsArgumentsOfTheParametersSize) {
  EXPECT_EQ(error_of(testing::launch(1, 1), kHead + ".entry k(.param .u32 a) { ret; }"),
            ": found an address of 8 bytes, expected 4 bytes (parameter out of k)");
}

TEST(Launch, WantsTheBlockThatThePtxRequires) {
  EXPECT_EQ(error_of(testing::launch(32, 1), kHead + ".entry k(.param .u64 a) .reqntid 64 { ret; }"),
            "k.toml:1: found block = [32, 1, 1], expected [64, 1, 1] (.reqntid of k)");
}

TEST(Launch, WantsTheClusterThatThePtxRequires) {
  LaunchSpec spec = testing::launch(32, 1);
  spec.cluster = {1, 1, 1};
  EXPECT_EQ(error_of(spec, kHead + ".entry k(.param .u64 a) .reqnctapercluster 2 { ret; }"),
            "k.toml:1: found cluster = [1, 1, 1], expected [2, 1, 1] (.reqnctapercluster of k)");
}

TEST(Launch, WantsAnEntryThatThereIs) {
  LaunchSpec spec = testing::launch(32, 1);
  spec.entry = "j";
  EXPECT_EQ(error_of(spec, kHead + ".entry k(.param .u64 a) { ret; }"), "k.toml:1: found entry = j, expected one of k (the entries of k.ptx)");
  spec.entry = "";
  EXPECT_EQ(error_of(spec, kHead + ".entry k(.param .u64 a) { ret; } .entry m() { ret; }"),
            "k.toml:1: found no entry, expected one of k, m (the entries of k.ptx)");
}

TEST(Launch, RefusesNamesThatAreNotDeclared) {
  EXPECT_EQ(error_of(testing::launch(1, 1), kHead + ".entry k(.param .u64 a) { .reg .b32 r;\nmov.u32 r, nowhere; ret; }"),
            "k.ptx:5: found nowhere, expected a declared register or variable");
}

TEST(Launch, ShortensMangledNames) {
  EXPECT_EQ(short_name("_ZZ21warp_specialized_ringE4ring"), "ring");
  EXPECT_EQ(short_name("_ZN60_INTERNAL_b202a055_29_libcudacxx_barrier_handoff_cu_ba3391484cuda3std3__45__cpo5beginE"), "begin");
  EXPECT_EQ(short_name("global_smem"), "global_smem");
}

}  // namespace
}  // namespace warpcheck::ptx
