// FNV-1a over 64 bits: tells whether a file or a launch is still the same, not meant against malice.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace warpcheck::cli {

class Digest {
 public:
  void add(std::string_view bytes) {
    add(uint64_t{bytes.size()});
    for (const char byte : bytes) mix(static_cast<uint8_t>(byte));
  }
  void add(uint64_t value) {
    for (int i = 0; i < 8; ++i) mix(static_cast<uint8_t>(value >> (8 * i)));
  }
  std::string hex() const { return fmt::format("{:016x}", hash_); }

 private:
  void mix(uint8_t byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ULL; }

  uint64_t hash_ = 0xcbf29ce484222325ULL;
};

}  // namespace warpcheck::cli
