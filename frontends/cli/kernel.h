// A kernel with its launch, as a user names it, ready to be explored or replayed.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "frontends/ptx/command_line_launch.h"
#include "frontends/ptx/launch_spec.h"
#include "model/machine.h"
#include "visualize/sources.h"

namespace warpcheck::cli {

// What was asked for: a launch file, perhaps with other PTX, or PTX with flags.
struct Request {
  std::string launch;                // path of the launch file; "" for flags
  std::optional<std::string> ptx;    // in place of the launch file's own; or the PTX that the flags launch
  ptx::LaunchFlags flags;
  bool plain_steps = false;
};

struct Kernel {
  Request request;
  ptx::LaunchSpec spec;
  std::string launch_hash, ptx_hash; // of the launch as read (contents of .npy files too), of the PTX text
  std::unique_ptr<Program> program;
  Sources sources;                   // looks beside the launch file and the PTX
};

// Throws InputError.
Kernel load_kernel(const Request& request);

}  // namespace warpcheck::cli
