// Special registers: which there are, and their values in a lane.
#include "frontends/ptx/specials.h"

#include <algorithm>

#include "frontends/ptx/interpreter.h"

namespace warpcheck::ptx {
namespace {

struct Row {
  std::string_view name;
  Special special;
};

constexpr Row kRows[] = {
    {"%tid.x", Special::kTidX}, {"%tid.y", Special::kTidY}, {"%tid.z", Special::kTidZ},
    {"%ntid.x", Special::kNtidX}, {"%ntid.y", Special::kNtidY}, {"%ntid.z", Special::kNtidZ},
    {"%ctaid.x", Special::kCtaidX}, {"%ctaid.y", Special::kCtaidY}, {"%ctaid.z", Special::kCtaidZ},
    {"%nctaid.x", Special::kNctaidX}, {"%nctaid.y", Special::kNctaidY}, {"%nctaid.z", Special::kNctaidZ},
    {"%laneid", Special::kLane}, {"%warpid", Special::kWarp}, {"%nwarpid", Special::kWarps},
    {"%clusterid.x", Special::kClusterX}, {"%clusterid.y", Special::kClusterY}, {"%clusterid.z", Special::kClusterZ},
    {"%nclusterid.x", Special::kClustersX}, {"%nclusterid.y", Special::kClustersY}, {"%nclusterid.z", Special::kClustersZ},
    {"%cluster_ctaid.x", Special::kClusterCtaX}, {"%cluster_ctaid.y", Special::kClusterCtaY},
    {"%cluster_ctaid.z", Special::kClusterCtaZ}, {"%cluster_nctaid.x", Special::kClusterSizeX},
    {"%cluster_nctaid.y", Special::kClusterSizeY}, {"%cluster_nctaid.z", Special::kClusterSizeZ},
    {"%cluster_ctarank", Special::kClusterRank}, {"%cluster_nctarank", Special::kClusterSize},
    {"%lanemask_eq", Special::kMaskEq}, {"%lanemask_le", Special::kMaskLe}, {"%lanemask_lt", Special::kMaskLt},
    {"%lanemask_ge", Special::kMaskGe}, {"%lanemask_gt", Special::kMaskGt},
    {"%is_explicit_cluster", Special::kIsExplicitCluster}, {"%dynamic_smem_size", Special::kDynamicShared},
    {"%total_smem_size", Special::kTotalShared}, {"%aggr_smem_size", Special::kTotalShared},
    {"%gridid", Special::kZero}, {"%smid", Special::kUnknown}, {"%nsmid", Special::kUnknown},
    {"%clock", Special::kUnknown}, {"%clock_hi", Special::kUnknown}, {"%clock64", Special::kUnknown},
    {"%globaltimer", Special::kUnknown}, {"%globaltimer_lo", Special::kUnknown}, {"%globaltimer_hi", Special::kUnknown},
    {"%reserved_smem_offset_begin", Special::kZero}, {"%current_graph_exec", Special::kZero}};

}  // namespace

std::optional<Special> special_register(std::string_view name) {
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == name; });
  if (row == std::end(kRows)) return std::nullopt;
  return row->special;
}

void Interpreter::fill_specials(Warp& warp) {
  for (const SpecialSlot& special_slot : kernel_.specials) {
    Slot& slot = warp.slots[special_slot.slot];
    slot.opaque = special_slot.special == Special::kUnknown ? ~0U : 0;
    for (uint32_t lane = 0; lane < 32; ++lane) slot.lane[lane] = special(special_slot.special, warp, lane);
  }
}

uint64_t Interpreter::special(Special special, const Warp& warp, uint32_t lane) const {
  const Shape& s = kernel_.shape;
  const uint32_t thread = warp.number * 32 + lane;
  const auto along = [](uint32_t index, const std::array<uint32_t, 3>& sizes) {
    return std::array<uint32_t, 3>{index % sizes[0], index / sizes[0] % sizes[1], index / sizes[0] / sizes[1]};
  };
  // Blocks are numbered cluster by cluster, so that the model finds those of one cluster side by side.
  const std::array<uint32_t, 3> clusters = {s.grid[0] / s.cluster[0], s.grid[1] / s.cluster[1], s.grid[2] / s.cluster[2]};
  const auto cluster = along(warp.block / s.cluster_blocks(), clusters);
  const auto rank = along(warp.block % s.cluster_blocks(), s.cluster);
  const auto tid = along(thread, s.block);
  switch (special) {
    case Special::kTidX: return tid[0];
    case Special::kTidY: return tid[1];
    case Special::kTidZ: return tid[2];
    case Special::kNtidX: return s.block[0];
    case Special::kNtidY: return s.block[1];
    case Special::kNtidZ: return s.block[2];
    case Special::kCtaidX: return cluster[0] * s.cluster[0] + rank[0];
    case Special::kCtaidY: return cluster[1] * s.cluster[1] + rank[1];
    case Special::kCtaidZ: return cluster[2] * s.cluster[2] + rank[2];
    case Special::kNctaidX: return s.grid[0];
    case Special::kNctaidY: return s.grid[1];
    case Special::kNctaidZ: return s.grid[2];
    case Special::kLane: return lane;
    case Special::kWarp: return warp.number;
    case Special::kWarps: return s.warps();
    case Special::kClusterX: return cluster[0];
    case Special::kClusterY: return cluster[1];
    case Special::kClusterZ: return cluster[2];
    case Special::kClustersX: return clusters[0];
    case Special::kClustersY: return clusters[1];
    case Special::kClustersZ: return clusters[2];
    case Special::kClusterCtaX: return rank[0];
    case Special::kClusterCtaY: return rank[1];
    case Special::kClusterCtaZ: return rank[2];
    case Special::kClusterSizeX: return s.cluster[0];
    case Special::kClusterSizeY: return s.cluster[1];
    case Special::kClusterSizeZ: return s.cluster[2];
    case Special::kClusterRank: return warp.block % s.cluster_blocks();
    case Special::kClusterSize: return s.cluster_blocks();
    case Special::kMaskEq: return uint64_t{1} << lane;
    case Special::kMaskLe: return (uint64_t{2} << lane) - 1;
    case Special::kMaskLt: return (uint64_t{1} << lane) - 1;
    case Special::kMaskGe: return (~uint64_t{0} << lane) & 0xffffffffU;
    case Special::kMaskGt: return (~uint64_t{1} << lane) & 0xffffffffU;
    case Special::kIsExplicitCluster: return s.explicit_cluster ? 1 : 0;
    case Special::kDynamicShared: return kernel_.dynamic_shared;
    case Special::kTotalShared: return kernel_.shared_bytes;
    case Special::kZero:
    case Special::kUnknown: return 0;
  }
  return 0;
}

}  // namespace warpcheck::ptx
