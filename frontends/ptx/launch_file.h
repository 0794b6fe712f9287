// Reads launch files (TOML; every key in docs/formats.md). What does not fit throws InputError with file and line:
// an unknown key, a value of the wrong type, a count that is no count, a missing file, a name of no buffer.
#pragma once

#include <optional>
#include <string>

#include "frontends/ptx/launch_spec.h"

namespace warpcheck::ptx {

// `ptx`, when given, replaces the file's own `ptx` key (path relative to the working directory). Paths in the result are
// those of the launch file resolved against its folder.
LaunchSpec read_launch_file(const std::string& path, const std::optional<std::string>& ptx = {});

// The same from text; `path` names it in errors and is what relative paths are resolved against.
LaunchSpec parse_launch_file(const std::string& text, const std::string& path,
                             const std::optional<std::string>& ptx = {});

}  // namespace warpcheck::ptx
