// Verdicts about the kernels of tests/ptx/data and their variants: kind, cause and source lines.
#include <gtest/gtest.h>

#include <algorithm>

#include "frontends/ptx/launch_file.h"
#include "kernel.h"

namespace warpcheck::ptx {
namespace {

struct Expected {
  const char* kernel;
  const char* variant;
  FindingKind kind;              // of an error; kLimit: verified
  std::vector<uint32_t> lines;   // one of them is named
  Cause cause = Cause::kNone;    // kNone: any
  bool strict = false;           // verified, with a strict-only finding of the kind
};

constexpr FindingKind kVerified = FindingKind::kLimit;

class Kernels : public ::testing::TestWithParam<Expected> {};

std::vector<uint32_t> lines_of(const Program& program, const Finding& finding) {
  std::vector<uint32_t> made;
  for (const FindingSite& place : finding.sites) {
    if (place.site == kNoSite) continue;
    const Site site = program.site(place.site);
    made.push_back(site.at.line);
    for (const SourceLine& line : site.inlined_at) made.push_back(line.line);
  }
  return made;
}

TEST_P(Kernels, GetTheRightVerdict) {
  const Expected& expected = GetParam();
  const std::string folder = PTX_DATA "/";
  const auto program = make_program(read_launch_file(folder + expected.kernel + ".toml", folder + expected.kernel + "." + expected.variant + ".ptx"));
  const ExploreResult result = explore(*program, {.keep_going = true, .max_seconds = 120});
  const bool sound = expected.kind == kVerified || expected.strict;
  EXPECT_EQ(result.verdict, sound ? Verdict::kVerified : Verdict::kViolation) << testing::describe(result);
  if (expected.kind == kVerified) return;
  const bool found = std::any_of(result.findings.begin(), result.findings.end(), [&](const FoundFinding& entry) {
    const Finding& finding = entry.finding;
    if (finding.kind != expected.kind || finding.strict != expected.strict) return false;
    if (expected.cause != Cause::kNone && finding.cause != expected.cause) return false;
    const auto lines = lines_of(*program, finding);
    return expected.lines.empty() || std::any_of(expected.lines.begin(), expected.lines.end(), [&](uint32_t line) {
             return std::find(lines.begin(), lines.end(), line) != lines.end();
           });
  });
  EXPECT_TRUE(found) << testing::describe(result);
}

const Expected kKernels[] = {
    {"block_reduce_sum", "correct", kVerified, {}},
    {"block_reduce_sum", "BUG_NO_SYNC_AFTER_STORE", FindingKind::kRace, {6, 13}},
    {"block_reduce_sum", "BUG_NO_SYNC_IN_LOOP", FindingKind::kRace, {13}},
    {"block_reduce_sum", "BUG_SYNC_IN_DIVERGENT_BRANCH", FindingKind::kDivergence, {15}, Cause::kNone, true},
    {"warp_shuffle_reduce", "correct", kVerified, {}},
    {"warp_shuffle_reduce", "BUG_NO_SYNC", FindingKind::kRace, {17, 21}},
    {"warp_shuffle_reduce", "BUG_MASK_NAMES_ABSENT_LANES", FindingKind::kDivergence, {9}},
    {"warp_shuffle_reduce", "BUG_SOURCE_LANE_NOT_IN_MASK", FindingKind::kDivergence, {12}},
    {"named_barrier_handoff", "correct", kVerified, {}},
    {"named_barrier_handoff", "BUG_ARRIVE_BEFORE_WRITE", FindingKind::kRace, {28, 39}},
    {"named_barrier_handoff", "BUG_THREAD_COUNT_TOO_HIGH", FindingKind::kDeadlock, {38, 24}},
    {"named_barrier_handoff", "BUG_NO_EMPTY_BARRIER", FindingKind::kRace, {39, 30}},
    {"named_barrier_handoff", "BUG_ONE_BARRIER_ID", FindingKind::kWrongResult, {}},
    {"mbarrier_ring_generic", "correct", kVerified, {}},
    {"mbarrier_ring_generic", "BUG_ARRIVE_BEFORE_WRITE", FindingKind::kRace, {39, 51}},
    {"mbarrier_ring_generic", "BUG_ARRIVE_RELAXED", FindingKind::kRace, {41, 51}},
    {"mbarrier_ring_generic", "BUG_NO_EMPTY_WAIT", FindingKind::kRace, {51, 41}},
    {"tma_bulk_load_1d", "correct", kVerified, {}},
    {"tma_bulk_load_1d", "BUG_NO_WAIT", FindingKind::kRace, {22, 39}, Cause::kNotAwaited},
    {"tma_bulk_load_1d", "BUG_EXPECT_TOO_MANY_BYTES", FindingKind::kDeadlock, {36}},
    {"tma_bulk_load_1d", "BUG_NO_SYNC_AFTER_INIT", FindingKind::kRace, {12, 36}},
    {"tma_bulk_load_1d", "BUG_STALE_PARITY", FindingKind::kRace, {22, 39}},
    {"tma_bulk_load_1d", "BUG_REFILL_WITHOUT_SYNC", FindingKind::kRace, {22, 39}},
    {"tma_bulk_store_1d", "correct", kVerified, {}},
    {"tma_bulk_store_1d", "FENCE_BY_ISSUER_AFTER_SYNC", kVerified, {}},
    {"tma_bulk_store_1d", "BUG_NO_PROXY_FENCE", FindingKind::kRace, {10, 19}, Cause::kProxyFence},
    {"tma_bulk_store_1d", "BUG_NO_WAIT_BEFORE_REUSE", FindingKind::kRace, {19, 32}, Cause::kNotAwaited},
    {"tma_bulk_store_1d", "BUG_READ_BACK_AFTER_WAIT_READ", FindingKind::kRace, {19, 27}, Cause::kOnlyReadSide},
    {"tma_bulk_store_1d", "BUG_EXIT_WITHOUT_WAIT", FindingKind::kUnawaitedAsync, {19}},
    {"warp_specialized_ring", "correct", kVerified, {}},
    {"warp_specialized_ring", "BUG_PRODUCER_START_PARITY", FindingKind::kDeadlock, {42, 64}},
    {"warp_specialized_ring", "BUG_CONSUMER_PARITY_NEVER_FLIPS", FindingKind::kRace, {52, 70}},
    {"warp_specialized_ring", "BUG_RELEASE_BEFORE_READ", FindingKind::kRace, {68, 52}},
    {"warp_specialized_ring", "BUG_EMPTY_COUNT_ONE", FindingKind::kRace, {70, 52}},
    {"warp_specialized_ring", "BUG_ARRIVE_BEFORE_EXPECT", FindingKind::kRace, {48, 70}},
    {"wgmma_smem_tile", "correct", kVerified, {}},
    {"wgmma_smem_tile", "BUG_NO_WAIT_BEFORE_OVERWRITE", FindingKind::kRace, {31, 34}, Cause::kNotAwaited},
    {"wgmma_smem_tile", "BUG_NO_WAIT_BEFORE_RESULT", FindingKind::kRegisterHazard, {31}},
    {"wgmma_smem_tile", "BUG_NO_PROXY_FENCE", FindingKind::kRace, {16, 17}, Cause::kProxyFence},
    {"wgmma_smem_tile", "BUG_NO_WGMMA_FENCE", FindingKind::kRegisterHazard, {31}, Cause::kNone, true},
    {"wgmma_slot_release", "correct", kVerified, {}},
    {"wgmma_slot_release", "BUG_FREE_BEFORE_WGMMA_DONE", FindingKind::kRace, {30, 39}},
    {"wgmma_slot_release", "BUG_NO_PROXY_FENCE", FindingKind::kRace, {16}, Cause::kProxyFence},
    {"wgmma_slot_release", "BUG_RESULT_BEFORE_WAIT", FindingKind::kRegisterHazard, {47}},
    {"attention_tile", "correct", kVerified, {}},
    {"attention_tile", "BUG_NO_WAIT_S", FindingKind::kRegisterHazard, {22}},
    {"attention_tile", "BUG_NO_WAIT_O", FindingKind::kRegisterHazard, {43}},
    {"warpgroup_gemm", "correct", kVerified, {}},
    {"warpgroup_gemm", "PIPELINED", kVerified, {}},
    {"warpgroup_gemm", "BUG_RELEASE_CURRENT", FindingKind::kRace, {49, 34}},
    {"warpgroup_gemm", "PIPELINED_BUG_NO_LAST_WAIT", FindingKind::kRegisterHazard, {66}},
    {"tcgen05_mma_tile", "correct", kVerified, {}},
    {"tcgen05_mma_tile", "BUG_NO_COMMIT_WAIT", FindingKind::kRace, {41, 57}, Cause::kNotPipelined},
    {"tcgen05_mma_tile", "BUG_NO_LD_WAIT", FindingKind::kRegisterHazard, {57}, Cause::kNone, true},
    {"tcgen05_mma_tile", "BUG_NO_AFTER_FENCE", FindingKind::kRace, {41, 57}, Cause::kNone, true},
    {"tcgen05_mma_tile", "BUG_NO_DEALLOC", FindingKind::kLifetime, {22}},
    {"tcgen05_mma_tile", "BUG_NO_SYNC_AFTER_ALLOC", FindingKind::kRace, {22, 34}},
    {"tcgen05_store_then_mma", "correct", kVerified, {}},
    {"tcgen05_store_then_mma", "BUG_BARRIER_BEFORE_STORE", FindingKind::kRace, {41, 45}},
    {"tcgen05_store_then_mma", "BUG_NO_WAIT_FOR_STORE", FindingKind::kRace, {30, 45}, Cause::kNotPipelined},
    {"tcgen05_store_then_mma", "NO_FENCE_AFTER_BARRIER", FindingKind::kRace, {30, 45}, Cause::kNone, true},
    {"tensor_gemm", "correct", kVerified, {}},
    {"tensor_gemm", "BUG_NO_ACC_EMPTY", FindingKind::kRace, {54, 76}},
    {"tensor_gemm", "BUG_ARRIVE_NOT_COMMIT", FindingKind::kRace, {54, 38}},
    {"tensor_gemm", "BUG_ACC_ARRIVE", FindingKind::kRace, {54, 76}},
    {"tensor_gemm", "NO_AFTER_FENCE", FindingKind::kRace, {54, 76}, Cause::kNone, true},
    {"block_pair", "correct", kVerified, {}},
    {"block_pair", "BUG_NO_CLUSTER_SYNC", FindingKind::kRace, {33}},
    {"block_pair", "BUG_COMMIT_TO_SELF", FindingKind::kDeadlock, {40}},
};

INSTANTIATE_TEST_SUITE_P(Ptx, Kernels, ::testing::ValuesIn(kKernels), [](const auto& tested) {
  return std::string(tested.param.kernel) + "_" + tested.param.variant;
});

}  // namespace
}  // namespace warpcheck::ptx
