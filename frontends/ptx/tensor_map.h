// Tensor maps (CUtensorMap): which box of which tensor a tensor copy moves, and how it lies in shared memory.
//
// CUDA keeps the 128 bytes of a map opaque, so they are laid out here in a way of our own: kernels may copy them as
// words and change them by tensormap.replace. PTX ISA: "tensors", "tensormap.replace".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "frontends/ptx/launch_spec.h"

namespace warpcheck::ptx {

constexpr uint32_t kTensorMapBytes = 128;

// How many bits of the chunk number the swizzle changes; chunks have 16 bytes.
enum class Swizzle : uint8_t { kPlain, k32, k64, k128 };

struct TensorMap {
  uint64_t address = 0;
  uint32_t rank = 1;
  uint32_t element_type = 0;                           // numbered as in tensormap.replace
  std::array<uint64_t, 5> dims = {1, 1, 1, 1, 1};      // elements
  std::array<uint64_t, 4> strides{};                   // bytes, of dimensions 1 and up
  std::array<uint32_t, 5> box = {1, 1, 1, 1, 1};
  std::array<uint32_t, 5> element_strides = {1, 1, 1, 1, 1};
  uint32_t interleave = 0, swizzle = 0, fill = 0, atomicity = 0;  // likewise

  uint32_t element_bytes() const;                      // 0: a type that is not supported
  uint32_t box_elements(uint32_t dimension) const;     // in shared memory: every element_strides-th
  uint64_t box_bytes() const;
  uint32_t swizzled_bits() const;                      // of an offset: see AsyncCopy::swizzle
};

using TensorMapBytes = std::array<uint8_t, kTensorMapBytes>;

TensorMapBytes encode(const TensorMap& map);
// nullopt: the bytes are no tensor map, or one that no launch could make.
std::optional<TensorMap> decode_tensor_map(std::span<const uint8_t> bytes);

// Why no copy can use this map, as cuTensorMapEncodeTiled says it; tensormap.replace does not look.
std::optional<std::string> fault_of(const TensorMap& map);

// The map that a launch describes. Throws InputError for what cuTensorMapEncodeTiled refuses.
TensorMap make_tensor_map(const TensorMapSpec& spec, uint64_t address, const Origin& origin);

// A field of tensormap.replace; false: the map has no such field.
bool replace(TensorMap& map, const std::string& field, uint32_t ordinal, uint64_t value);

}  // namespace warpcheck::ptx
