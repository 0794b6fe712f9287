#include "frontends/ptx/input_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "model/machine.h"

namespace warpcheck::ptx {

std::string read_input_file(const std::string& path, const std::string& what) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw InputError(path, 0, fmt::format("no such file, expected a {}", what));
  if (std::filesystem::is_directory(status)) {
    throw InputError(path, 0, fmt::format("found a directory, expected a {}", what));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path, 0, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string text;
  char block[65536];
  while (file.read(block, sizeof block), file.gcount() > 0) {
    text.append(block, static_cast<size_t>(file.gcount()));
    if (text.size() > kMaxInputBytes) {
      throw InputError(path, 0, fmt::format("found more than {} bytes, expected a {}", kMaxInputBytes, what));
    }
  }
  if (file.bad()) throw InputError(path, 0, fmt::format("cannot be read: {}", std::strerror(errno)));
  return text;
}

}  // namespace warpcheck::ptx
