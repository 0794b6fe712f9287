#include "frontends/ptx/expectation.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

namespace warpcheck::ptx {
namespace {

double half(uint64_t bits) {
  const uint64_t fraction = bits & 0x3ff, exponent = bits >> 10 & 0x1f;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1f) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(static_cast<double>(fraction), -24);
  return sign * std::ldexp(static_cast<double>(fraction + 1024), static_cast<int>(exponent) - 25);
}

double as_double(uint64_t bits, const ElementType& type) {
  if (type.name == "f64") return std::bit_cast<double>(bits);
  if (type.name == "f32") return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (type.name == "bf16") return std::bit_cast<float>(static_cast<uint32_t>(bits << 16));
  return half(bits);
}

uint64_t cut(uint64_t bits, const ElementType& type) {
  return type.bytes < 8 ? bits & ((uint64_t{1} << (8 * type.bytes)) - 1) : bits;
}

std::string text(uint64_t bits, const ElementType& type) {
  if (type.is_float) return fmt::format("{}", as_double(bits, type));
  if (type.name[0] != 's') return fmt::format("{}", bits);
  const unsigned unused = 64 - 8 * type.bytes;
  return fmt::format("{}", static_cast<int64_t>(bits << unused) >> unused);
}

bool same(uint64_t found, uint64_t expected, const BufferSpec& buffer) {
  if (found == expected) return true;
  if (!buffer.type.is_float) return false;
  const double a = as_double(found, buffer.type), b = as_double(expected, buffer.type);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::fabs(a - b) <= buffer.tolerance * std::fabs(b);
}

}  // namespace

void ExpectedBuffers::check(GpuMachine& machine) const {
  for (uint32_t region = 0; region < buffers_.size(); ++region) {
    const BufferSpec& buffer = buffers_[region];
    if (!buffer.expect) continue;
    for (size_t i = 0; i < buffer.expect->elements.size(); ++i) {
      if (!buffer.expect->elements[i]) continue;
      const uint64_t at = i * buffer.type.bytes;
      const Range element{RegionId{region}, at, buffer.type.bytes};
      uint64_t found = 0;
      std::array<uint8_t, 8> tag_of_byte{};
      machine.peek(element, reinterpret_cast<uint8_t*>(&found), tag_of_byte.data());
      const uint8_t tags = std::accumulate(tag_of_byte.begin(), tag_of_byte.end(), uint8_t{0}, std::bit_or<uint8_t>());
      const uint64_t expected = cut(*buffer.expect->elements[i], buffer.type);
      // Bytes that are not computed are what they happen to be: equal or not, that says nothing.
      const bool known = (tags & kUninitializedTag) == 0, opaque = (tags & kOpaqueTag) != 0;
      if (known && !opaque && same(found, expected, buffer)) continue;
      if (machine.confined()) {
        machine.note_unmet(element);
        continue;
      }
      Finding finding;
      finding.kind = opaque ? FindingKind::kUnsupported : FindingKind::kWrongResult;
      finding.object = fmt::format("global {}[{}]", buffer.name, i);
      finding.message = opaque
                            ? fmt::format("{}[{}] rests on values that are not computed and cannot be compared", buffer.name, i)
                            : fmt::format("{}[{}]: found {}, expected {}", buffer.name, i,
                                          known ? text(found, buffer.type) : "an uninitialized element", text(expected, buffer.type));
      machine.report(std::move(finding));
      break;
    }
  }
}

}  // namespace warpcheck::ptx
