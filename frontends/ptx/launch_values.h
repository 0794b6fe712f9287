// Element types and values as users write them: "s32[128]", numbers that must fit a type, the fills zero, one and iota.
// Whatever does not fit throws InputError with the origin that the caller gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "frontends/ptx/launch_spec.h"

namespace warpcheck::ptx {

// Elements of one buffer, and threads of one launch: what is larger is refused before memory is asked for.
constexpr uint64_t kMaxElements = 1ULL << 24;
constexpr uint64_t kMaxThreads = 1ULL << 18;

// "found X, expected Y" at the origin.
[[noreturn]] void reject(const Origin& origin, const std::string& found, const std::string& expected);

ElementType parse_element_type(std::string_view text, const Origin& origin);

// "s32[128]"
struct TypeAndCount {
  ElementType type;
  uint64_t count = 0;
};
TypeAndCount parse_buffer_type(std::string_view text, const Origin& origin);

// A number as raw little-endian bits of `type`. Integers must fit; floats round to nearest even.
using Number = std::variant<int64_t, double>;
uint64_t encode(const Number& number, const ElementType& type, const Origin& origin);

// "zero", "one", "iota" (element i = i, wrapping in small types), "uninitialized" (no elements); nullopt for any other word.
std::optional<Contents> named_fill(std::string_view name, const ElementType& type, uint64_t count);

// Numbers as on a command line: "12", "-1", "0x10", "2.5".
std::optional<Number> parse_number(std::string_view text);

double default_tolerance(const ElementType& type);

// Checks sizes that no GPU has: threads a block, blocks a cluster, shared memory.
void check_shape(const LaunchSpec& spec, const Origin& grid, const Origin& block, const Origin& cluster,
                 const Origin& shared);

// Checks that every tensor map, address and field names a buffer of the launch, and that names are unique.
void check_references(const LaunchSpec& spec);

}  // namespace warpcheck::ptx
