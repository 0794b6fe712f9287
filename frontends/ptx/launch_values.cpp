#include "frontends/ptx/launch_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "model/machine.h"

namespace warpcheck::ptx {
namespace {

constexpr std::string_view kTypeNames = "u8 s8 b8 u16 s16 b16 u32 s32 b32 u64 s64 b64 f16 bf16 f32 f64";
constexpr uint64_t kMaxSharedBytes = 227 * 1024;

// A double as a float with `exponent_bits` and `mantissa_bits`, rounded to nearest even.
uint64_t narrow_float(double value, int exponent_bits, int mantissa_bits) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint64_t sign = (bits >> 63) << (exponent_bits + mantissa_bits);
  const uint64_t infinity = ((1ULL << exponent_bits) - 1) << mantissa_bits;
  if (std::isnan(value)) return sign | infinity | (1ULL << (mantissa_bits - 1));
  if (std::isinf(value)) return sign | infinity;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double magnitude = std::fabs(value);
  int exponent = 0;
  if (magnitude != 0) std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);  // of the leading bit, or of the subnormal range
  const double scaled = std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent));
  auto mantissa = static_cast<uint64_t>(scaled);
  // Adding the mantissa with its leading one carries into the exponent where rounding overflowed.
  const uint64_t biased = static_cast<uint64_t>(exponent + bias);
  const uint64_t leading = 1ULL << mantissa_bits;
  const uint64_t result = mantissa < leading ? mantissa : ((biased - 1) << mantissa_bits) + mantissa;
  return sign | std::min(result, infinity);
}

uint64_t encode_float(double value, const ElementType& type) {
  if (type.name == "f64") return std::bit_cast<uint64_t>(value);
  if (type.name == "f32") return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (type.name == "f16") return narrow_float(value, 5, 10);
  return narrow_float(value, 8, 7);
}

uint64_t truncated(uint64_t value, uint32_t bytes) {
  return bytes == 8 ? value : value & ((1ULL << (8 * bytes)) - 1);
}

void check_product(const std::array<uint32_t, 3>& shape, uint64_t limit, const char* what, const Origin& origin) {
  const uint64_t plane = static_cast<uint64_t>(shape[0]) * shape[1];
  if (plane == 0 || shape[2] == 0) {
    reject(origin, fmt::format("{} [{}, {}, {}]", what, shape[0], shape[1], shape[2]), "sizes of at least 1");
  }
  if (plane > limit || plane * shape[2] > limit) {
    reject(origin, fmt::format("{} [{}, {}, {}]", what, shape[0], shape[1], shape[2]),
           fmt::format("at most {} in all", limit));
  }
}

}  // namespace

void reject(const Origin& origin, const std::string& found, const std::string& expected) {
  throw InputError(origin.file, origin.line, fmt::format("found {}, expected {}", found, expected));
}

ElementType parse_element_type(std::string_view text, const Origin& origin) {
  std::string_view names = kTypeNames;
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    if (text == names.substr(0, end)) {
      const uint32_t bits = text.ends_with('8') ? 8 : text.ends_with("16") ? 16 : text.ends_with("32") ? 32 : 64;
      return {std::string(text), bits / 8, text.find('f') != std::string_view::npos};
    }
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  reject(origin, fmt::format("type '{}'", text), fmt::format("one of {}", kTypeNames));
}

TypeAndCount parse_buffer_type(std::string_view text, const Origin& origin) {
  const size_t open = text.find('[');
  if (open == std::string_view::npos || !text.ends_with(']')) {
    reject(origin, fmt::format("'{}'", text), "a type and a count, as in s32[128]");
  }
  TypeAndCount result{parse_element_type(text.substr(0, open), origin), 0};
  const std::string_view digits = text.substr(open + 1, text.size() - open - 2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result.count);
  if (digits.empty() || end != digits.data() + digits.size() ||
      (error != std::errc() && error != std::errc::result_out_of_range)) {
    reject(origin, fmt::format("count '{}'", digits), "a number of elements");
  }
  if (error == std::errc::result_out_of_range || result.count == 0 || result.count > kMaxElements) {
    reject(origin, fmt::format("{} elements", digits), fmt::format("1 to {}", kMaxElements));
  }
  return result;
}

uint64_t encode(const Number& number, const ElementType& type, const Origin& origin) {
  const auto* integer = std::get_if<int64_t>(&number);
  if (type.is_float) {
    return encode_float(integer != nullptr ? static_cast<double>(*integer) : std::get<double>(number), type);
  }
  if (integer == nullptr) {
    reject(origin, fmt::format("{}", std::get<double>(number)), fmt::format("an integer of type {}", type.name));
  }
  const unsigned bits = type.bytes * 8;
  const bool is_signed = type.name[0] != 'u', is_unsigned = type.name[0] != 's';
  const int64_t low = !is_signed ? 0 : std::numeric_limits<int64_t>::min() >> (64 - bits);
  const int64_t high = bits == 64 ? std::numeric_limits<int64_t>::max()
                                  : (int64_t{1} << (is_unsigned ? bits : bits - 1)) - 1;
  if (*integer < low || *integer > high) {
    reject(origin, fmt::format("{}", *integer), fmt::format("{} to {} (type {})", low, high, type.name));
  }
  return truncated(static_cast<uint64_t>(*integer), type.bytes);
}

std::optional<Contents> named_fill(std::string_view name, const ElementType& type, uint64_t count) {
  Contents contents;
  if (name == "uninitialized") return contents;
  if (name != "zero" && name != "one" && name != "iota") return std::nullopt;
  contents.elements.resize(count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t value = name == "zero" ? 0 : name == "one" ? 1 : i;
    contents.elements[i] =
        type.is_float ? encode_float(static_cast<double>(value), type) : truncated(value, type.bytes);
  }
  return contents;
}

std::optional<Number> parse_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative ? 1 : 0);
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  uint64_t magnitude = 0;
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, magnitude, hex ? 16 : 10);
  if (error == std::errc() && end == last) {
    constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
    if (hex && !negative) return static_cast<int64_t>(magnitude);
    if (magnitude > kMax) return std::nullopt;
    return negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  }
  double value = 0;
  const auto [float_end, float_error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (float_error == std::errc() && float_end == text.data() + text.size()) return value;
  return std::nullopt;
}

double default_tolerance(const ElementType& type) { return type.is_float && type.bytes == 2 ? 1e-2 : 1e-5; }

void check_shape(const LaunchSpec& spec, const Origin& grid, const Origin& block, const Origin& cluster,
                 const Origin& shared) {
  check_product(spec.block, 1024, "block", block);
  check_product(spec.grid, kMaxThreads, "grid", grid);
  const uint64_t blocks = static_cast<uint64_t>(spec.grid[0]) * spec.grid[1] * spec.grid[2];
  const uint64_t threads = static_cast<uint64_t>(spec.block[0]) * spec.block[1] * spec.block[2];
  if (blocks * threads > kMaxThreads) {
    reject(grid, fmt::format("{} blocks of {} threads", blocks, threads),
           fmt::format("at most {} threads in all", kMaxThreads));
  }
  if (spec.cluster) {
    check_product(*spec.cluster, 16, "cluster", cluster);
    for (size_t i = 0; i < 3; ++i) {
      if (spec.grid[i] % (*spec.cluster)[i] != 0) {
        reject(cluster, fmt::format("cluster of {} in a grid of {}", (*spec.cluster)[i], spec.grid[i]),
               "a grid that is a multiple of the cluster");
      }
    }
  }
  if (spec.dynamic_shared > kMaxSharedBytes) {
    reject(shared, fmt::format("{} bytes of dynamic shared memory", spec.dynamic_shared),
           fmt::format("at most {}", kMaxSharedBytes));
  }
}

void check_references(const LaunchSpec& spec) {
  std::set<std::string> buffers, names;
  std::string listing;
  for (const BufferSpec& buffer : spec.buffers) {
    if (!buffers.insert(buffer.name).second) {
      reject(buffer.origin, fmt::format("a second buffer '{}'", buffer.name), "each name once");
    }
    listing += (listing.empty() ? "" : ", ") + buffer.name;
  }
  const auto known = [&](const std::string& name, const Origin& origin) {
    if (buffers.contains(name)) return;
    reject(origin, fmt::format("'{}'", name),
           listing.empty() ? "the name of a buffer (there is none)" : "the name of a buffer: " + listing);
  };
  const auto known_fields = [&](const std::vector<FieldSpec>& fields, const Origin& origin) {
    for (const FieldSpec& field : fields) {
      if (field.address) known(*field.address, origin);
    }
  };
  for (const BufferSpec& buffer : spec.buffers) known_fields(buffer.fields, buffer.origin);
  for (const ArgSpec& arg : spec.args) {
    if (!names.insert(arg.name).second) {
      reject(arg.origin, fmt::format("a second argument '{}'", arg.name), "each name once");
    }
    if (arg.kind == ArgSpec::Kind::kAddress) known(arg.buffer, arg.origin);
    if (arg.kind == ArgSpec::Kind::kTensorMap) known(arg.tensor_map.over, arg.origin);
    if (arg.kind == ArgSpec::Kind::kStruct) known_fields(arg.fields, arg.origin);
  }
}

}  // namespace warpcheck::ptx
