#include "frontends/ptx/expectation.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

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

void ExpectedBuffers::check(GpuMachine& machine, bool opaque_stored) const {
  for (uint32_t region = 0; region < buffers_.size(); ++region) {
    const BufferSpec& buffer = buffers_[region];
    if (!buffer.expect) continue;
    const auto bytes = machine.bytes(RegionId{region});
    for (size_t i = 0; i < buffer.expect->elements.size(); ++i) {
      if (!buffer.expect->elements[i]) continue;
      const uint64_t at = i * buffer.type.bytes;
      uint64_t found = 0;
      std::memcpy(&found, bytes.data() + at, std::min<uint32_t>(buffer.type.bytes, 8));
      const uint64_t expected = cut(*buffer.expect->elements[i], buffer.type);
      const bool known = machine.initialized(RegionId{region}, at);
      if (known && same(found, expected, buffer)) continue;
      if (machine.confined()) {
        machine.note_unmet({RegionId{region}, at, buffer.type.bytes});
        continue;
      }
      Finding finding;
      finding.kind = opaque_stored ? FindingKind::kUnsupported : FindingKind::kWrongResult;
      finding.object = fmt::format("global {}[{}]", buffer.name, i);
      finding.message = opaque_stored
                            ? fmt::format("{}[{}] rests on values that are not computed and cannot be compared", buffer.name, i)
                            : fmt::format("{}[{}]: found {}, expected {}", buffer.name, i,
                                          known ? text(found, buffer.type) : "an uninitialized element", text(expected, buffer.type));
      machine.report(std::move(finding));
      break;
    }
  }
}

}  // namespace warpcheck::ptx
