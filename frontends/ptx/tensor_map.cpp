#include "frontends/ptx/tensor_map.h"

#include <fmt/format.h>

#include <cstring>

#include "model/finding.h"
#include "model/machine.h"

namespace warpcheck::ptx {
namespace {

constexpr uint64_t kMark = 0x70616d726f736e65;  // "ensormap": tells a map from other bytes

enum ElementTypeNumber : uint32_t { kU8, kU16, kU32, kS32, kU64, kS64, kF16, kF32, kF32Ftz, kF64, kBf16, kTf32, kTf32Ftz };

struct Packed {
  uint64_t mark, address;
  uint64_t strides[4];
  uint32_t dims[5];              // one less, so that 2^32 fits
  uint16_t box[5], element_strides[5];
  uint8_t rank, element_type, interleave, swizzle, fill, atomicity;
};
static_assert(sizeof(Packed) <= kTensorMapBytes);

[[noreturn]] void bad(const Origin& origin, const std::string& text) { throw InputError(origin.file, origin.line, text); }

uint32_t type_number(const ElementType& type) {
  const std::string& name = type.name;
  if (name == "f16") return kF16;
  if (name == "bf16") return kBf16;
  if (name == "f32") return kF32;
  if (name == "f64") return kF64;
  const bool is_signed = name[0] == 's';
  switch (type.bytes) {
    case 1: return kU8;
    case 2: return kU16;
    case 4: return is_signed ? kS32 : kU32;
    default: return is_signed ? kS64 : kU64;
  }
}

uint32_t swizzle_span(uint32_t swizzle) { return swizzle == 0 ? 0 : 16U << swizzle; }

}  // namespace

uint32_t TensorMap::element_bytes() const {
  switch (element_type) {
    case kU8: return 1;
    case kU16: case kF16: case kBf16: return 2;
    case kU32: case kS32: case kF32: case kF32Ftz: case kTf32: case kTf32Ftz: return 4;
    case kU64: case kS64: case kF64: return 8;
    default: return 0;
  }
}

// Without interleaving the stride of dimension 0 is ignored.
uint32_t TensorMap::box_elements(uint32_t dimension) const {
  const uint32_t stride = dimension == 0 ? 1 : element_strides[dimension];
  return (box[dimension] + stride - 1) / stride;
}

uint64_t TensorMap::box_bytes() const {
  uint64_t bytes = element_bytes();
  for (uint32_t d = 0; d < rank; ++d) bytes *= box_elements(d);
  return bytes;
}

uint32_t TensorMap::swizzled_bits() const {
  switch (static_cast<Swizzle>(swizzle)) {
    case Swizzle::kPlain: return 0;
    case Swizzle::k32: return 0x10;
    case Swizzle::k64: return 0x30;
    case Swizzle::k128: return 0x70;
  }
  return 0;
}

TensorMapBytes encode(const TensorMap& map) {
  Packed packed{};
  packed.mark = kMark;
  packed.address = map.address;
  for (size_t i = 0; i < 4; ++i) packed.strides[i] = map.strides[i];
  for (size_t i = 0; i < 5; ++i) {
    packed.dims[i] = static_cast<uint32_t>(map.dims[i] - 1);
    packed.box[i] = static_cast<uint16_t>(map.box[i]);
    packed.element_strides[i] = static_cast<uint16_t>(map.element_strides[i]);
  }
  packed.rank = static_cast<uint8_t>(map.rank);
  packed.element_type = static_cast<uint8_t>(map.element_type);
  packed.interleave = static_cast<uint8_t>(map.interleave);
  packed.swizzle = static_cast<uint8_t>(map.swizzle);
  packed.fill = static_cast<uint8_t>(map.fill);
  packed.atomicity = static_cast<uint8_t>(map.atomicity);
  TensorMapBytes bytes{};
  std::memcpy(bytes.data(), &packed, sizeof(packed));
  return bytes;
}

std::optional<TensorMap> decode_tensor_map(std::span<const uint8_t> bytes) {
  Packed packed{};
  if (bytes.size() < sizeof(packed)) return std::nullopt;
  std::memcpy(&packed, bytes.data(), sizeof(packed));
  if (packed.mark != kMark || packed.rank < 1 || packed.rank > 5) return std::nullopt;
  TensorMap map;
  map.address = packed.address;
  map.rank = packed.rank;
  map.element_type = packed.element_type;
  for (size_t i = 0; i < 4; ++i) map.strides[i] = packed.strides[i];
  for (size_t i = 0; i < 5; ++i) {
    map.dims[i] = uint64_t{packed.dims[i]} + 1;
    map.box[i] = packed.box[i];
    map.element_strides[i] = packed.element_strides[i];
    if (map.box[i] == 0 || map.box[i] > 256 || map.element_strides[i] == 0) return std::nullopt;
  }
  map.interleave = packed.interleave;
  map.swizzle = packed.swizzle;
  map.fill = packed.fill;
  map.atomicity = packed.atomicity;
  return map;
}

std::optional<std::string> fault_of(const TensorMap& map) {
  if (map.address % 16 != 0) return fmt::format("found a tensor at address {:#x}, expected a multiple of 16", map.address);
  for (uint32_t d = 1; d < map.rank; ++d) {
    if (map.strides[d - 1] % 16 != 0) return fmt::format("found a stride of {} bytes, expected a multiple of 16", map.strides[d - 1]);
  }
  const uint64_t row = uint64_t{map.box[0]} * map.element_bytes();
  if (map.interleave == 0 && row % 16 != 0) return fmt::format("found a box with rows of {} bytes, expected a multiple of 16", row);
  if (map.swizzle != 0 && row > swizzle_span(map.swizzle)) {
    return fmt::format("found a box with rows of {} bytes, expected at most {} (its swizzle)", row, swizzle_span(map.swizzle));
  }
  if (map.fill == 1 && map.element_type < kF16) return "found fill = nan, expected zero (a tensor of integers)";
  return std::nullopt;
}

TensorMap make_tensor_map(const TensorMapSpec& spec, uint64_t address, const Origin& origin) {
  TensorMap map;
  map.address = address;
  map.rank = static_cast<uint32_t>(spec.dims.size());
  map.element_type = type_number(spec.type);
  for (size_t i = 0; i < spec.dims.size(); ++i) {
    map.dims[i] = spec.dims[i];
    map.box[i] = spec.box[i];
    map.element_strides[i] = spec.element_strides[i];
    if (i > 0) map.strides[i - 1] = spec.strides[i - 1];
  }
  map.interleave = spec.interleave == "none" ? 0 : spec.interleave == "16B" ? 1 : 2;
  map.swizzle = spec.swizzle == "none" ? 0 : spec.swizzle == "32B" ? 1 : spec.swizzle == "64B" ? 2 : 3;
  map.fill = spec.fill == "nan" ? 1 : 0;
  if (address % 16 != 0) bad(origin, fmt::format("found a tensor at offset {}, expected a multiple of 16", spec.offset));
  if (const auto fault = fault_of(map)) bad(origin, *fault);
  return map;
}

bool replace(TensorMap& map, const std::string& field, uint32_t ordinal, uint64_t value) {
  if (field == "global_address") map.address = value;
  else if (field == "rank") map.rank = static_cast<uint32_t>(value & 0xff) + 1;
  else if (field == "global_dim" && ordinal < 5) map.dims[ordinal] = value == 0 ? uint64_t{1} << 32 : value & 0xffffffffU;
  else if (field == "global_stride" && ordinal < 4) map.strides[ordinal] = value;
  else if (field == "box_dim" && ordinal < 5) map.box[ordinal] = static_cast<uint32_t>(value & 0xffff);
  else if (field == "element_stride" && ordinal < 5) map.element_strides[ordinal] = static_cast<uint32_t>(value & 0xffff);
  else if (field == "elemtype") map.element_type = static_cast<uint32_t>(value & 0xff);
  else if (field == "interleave_layout") map.interleave = static_cast<uint32_t>(value & 0xff);
  else if (field == "swizzle_mode") map.swizzle = static_cast<uint32_t>(value & 0xff);
  else if (field == "fill_mode") map.fill = static_cast<uint32_t>(value & 0xff);
  else if (field == "swizzle_atomicity") map.atomicity = static_cast<uint32_t>(value & 0xff);
  else return false;
  return true;
}

}  // namespace warpcheck::ptx
