// Lays a launch out in memory: buffers and module variables as regions of global memory, one region of shared memory a
// block, the bytes of the parameters. Matches the launch with what the PTX asks for; what does not fit is an InputError
// that names the line of the launch file.
#pragma once

#include <vector>

#include "frontends/ptx/code.h"
#include "frontends/ptx/decode.h"
#include "frontends/ptx/launch_spec.h"
#include "frontends/ptx/module.h"
#include "model/launch_model.h"

namespace warpcheck::ptx {

// The entry that the launch names, or the only one.
const Function& find_entry(const Module& module, const LaunchSpec& spec);

struct Layout {
  Shape shape;
  LaunchModel model;
  Symbols symbols;
  std::vector<uint8_t> params;
  uint64_t local_bytes = 0, shared_bytes = 0;
  uint32_t global_regions = 0;  // the first are spec.buffers, in order
  RegionId zeros{};             // the last of them: 16 zero bytes that copies read where they have no source
};

Layout lay_out(const Module& module, const Function& entry, const LaunchSpec& spec);

// The last component of a mangled name: _ZZ4ringE4full -> full. Others stay as they are.
std::string short_name(std::string_view mangled);

}  // namespace warpcheck::ptx
