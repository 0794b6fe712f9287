// A launch of a PTX kernel as a user describes it (a TOML launch file or command line flags), read but not yet matched
// with the PTX. FORMATS: docs/formats.md. Errors carry the file and line of what they are about.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpcheck::ptx {

// Where something was said, for error messages: "ring.toml", 12. Line 0: the command line.
struct Origin {
  std::string file;
  uint32_t line = 0;
};

// An element type of a buffer or scalar: u8 s8 b8 ... u64 s64 b64 f16 bf16 f32 f64.
struct ElementType {
  std::string name;
  uint32_t bytes = 4;
  bool is_float = false;
};

// Buffer contents: element values as raw little-endian bytes; nullopt elements are uninitialized (or not compared).
struct Contents {
  std::vector<std::optional<uint64_t>> elements;
};

struct FieldSpec {                  // of a struct passed by value, or of a buffer of addresses
  uint64_t at = 0;
  std::optional<std::string> address;  // of this buffer
  uint64_t offset = 0;
  std::vector<uint8_t> bytes;          // else these
};

struct BufferSpec {
  std::string name;
  ElementType type;
  uint64_t count = 0;
  Contents init;                    // shorter than count: the rest is uninitialized
  std::optional<Contents> expect;   // final contents; shorter: a prefix
  double tolerance = 1e-5;          // relative, for floats
  Origin origin;
  std::vector<FieldSpec> fields;    // of an array of addresses: laid over `init`
};

struct TensorMapSpec {
  std::string over;                 // buffer
  uint64_t offset = 0;
  ElementType type;
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box, element_strides;
  std::string swizzle = "none", interleave = "none", fill = "zero";
};

struct ArgSpec {
  enum class Kind : uint8_t { kBuffer, kScalar, kTensorMap, kStruct, kAddress };
  Kind kind = Kind::kBuffer;
  std::string name;
  std::string buffer;               // kBuffer, kAddress: name of the BufferSpec
  uint64_t offset = 0;              // kAddress
  ElementType type;                 // kScalar
  uint64_t value = 0;               // kScalar: raw bits
  TensorMapSpec tensor_map;
  uint64_t struct_bytes = 0;
  std::vector<FieldSpec> fields;
  Origin origin;
};

struct SymbolSpec {
  std::string name;
  Contents init;
  Origin origin;
  std::optional<ElementType> type;  // of the elements of `init`; none: as the PTX declares the variable (then integers)
};

struct LaunchSpec {
  std::string entry;                // "": the only entry of the PTX
  std::string ptx;                  // path as found (resolved against the launch file)
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::optional<std::array<uint32_t, 3>> cluster;
  uint64_t dynamic_shared = 0;
  bool cooperative = false;
  std::vector<BufferSpec> buffers;  // of [[arg]] with a buffer and of [[buffer]]
  std::vector<ArgSpec> args;
  std::vector<SymbolSpec> symbols;
  std::vector<std::string> before;  // launch files of the grids that this one follows
  std::optional<std::string> printed;
  Origin origin;                    // the launch file
};

}  // namespace warpcheck::ptx
