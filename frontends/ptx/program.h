// A PTX kernel and its launch as a Program: what the command `warpcheck check` runs.
#pragma once

#include <memory>

#include "frontends/ptx/launch_spec.h"
#include "model/machine.h"

namespace warpcheck::ptx {

struct ProgramOptions {
  bool plain_steps = false;  // each plain access is a step of its own: not supported for PTX (InputError)
};

// Reads spec.ptx and matches it with the launch. Throws InputError.
std::unique_ptr<Program> make_program(const LaunchSpec& spec, const ProgramOptions& options = {});

// The same with the text at hand; `file` names it in errors and reports.
std::unique_ptr<Program> make_program(const LaunchSpec& spec, std::string text, const std::string& file);

}  // namespace warpcheck::ptx
