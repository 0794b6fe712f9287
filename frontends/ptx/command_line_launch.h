// A launch said on the command line: warpcheck check ring.ptx --grid 1 --block 64 --arg in=s32[128]:iota --arg n=s32:8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "frontends/ptx/launch_spec.h"

namespace warpcheck::ptx {

struct LaunchFlags {
  std::string entry;
  std::vector<uint32_t> grid, block, cluster;  // up to three sizes; empty: not said
  std::optional<uint64_t> dynamic_shared;
  bool cooperative = false;
  std::vector<std::string> args;  // "name=type[count]:init", "name=type[count]" (uninitialized) or "name=type:value"

  bool any() const;
};

// Throws InputError that names the flag.
LaunchSpec command_line_launch(const std::string& ptx, const LaunchFlags& flags);

}  // namespace warpcheck::ptx
