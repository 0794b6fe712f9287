// Reads a whole file that a user named. Missing, a directory, unreadable or too large: InputError, one line.
#pragma once

#include <cstdint>
#include <string>

namespace warpcheck::ptx {

constexpr uint64_t kMaxInputBytes = 256ULL << 20;

// `what` says what the file was to be: "launch file", "PTX file".
std::string read_input_file(const std::string& path, const std::string& what);

}  // namespace warpcheck::ptx
