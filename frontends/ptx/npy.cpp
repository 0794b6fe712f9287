#include "frontends/ptx/npy.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <string_view>

#include "frontends/ptx/input_file.h"
#include "frontends/ptx/launch_values.h"
#include "model/machine.h"

namespace warpcheck::ptx {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

struct Header {
  std::string_view descr, order, shape;
  std::string_view data;
};

// The text after "'key':" in the header's dictionary, without leading spaces.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
  const size_t at = dictionary.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return {};
  dictionary.remove_prefix(at + key.size() + 3);
  while (dictionary.starts_with(' ')) dictionary.remove_prefix(1);
  return dictionary;
}

std::string_view until(std::string_view text, std::string_view stop) { return text.substr(0, text.find_first_of(stop)); }

bool parse_header(std::string_view file, Header& header) {
  if (!file.starts_with(kMagic) || file.size() < 12) return false;
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(file[i])); };
  const size_t version = byte(6), start = version == 1 ? 10 : 12;
  if (version < 1 || version > 3) return false;
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > file.size() - start) return false;
  const std::string_view dictionary = file.substr(start, length);
  header.descr = value_of(dictionary, "descr");
  header.order = until(value_of(dictionary, "fortran_order"), ",}");
  header.shape = value_of(dictionary, "shape");
  if (!header.descr.starts_with('\'') || !header.shape.starts_with('(')) return false;
  header.descr = until(header.descr.substr(1), "'");
  header.shape = until(header.shape.substr(1), ")");
  header.data = file.substr(start + length);
  return true;
}

// The number of elements that a shape "2, 3" or "6," names; nullopt when it is no shape or larger than kMaxElements.
std::optional<uint64_t> elements_of(std::string_view shape, size_t& dimensions) {
  uint64_t product = 1;
  dimensions = 0;
  while (!shape.empty()) {
    while (shape.starts_with(' ') || shape.starts_with(',')) shape.remove_prefix(1);
    if (shape.empty()) break;
    uint64_t size = 0;
    const auto [end, error] = std::from_chars(shape.data(), shape.data() + shape.size(), size);
    if (error != std::errc() || size > kMaxElements || (product *= size) > kMaxElements) return std::nullopt;
    shape.remove_prefix(static_cast<size_t>(end - shape.data()));
    ++dimensions;
  }
  return product;
}

bool matches(std::string_view descr, const ElementType& type) {
  if (descr.size() != 3 || descr[2] - '0' != static_cast<int>(type.bytes)) return false;
  if (descr[0] != '<' && descr[0] != '|' && descr[0] != '=') return false;
  const char kind = descr[1];
  if (type.name == "bf16") return kind == 'u' || kind == 'V';
  if (type.is_float) return kind == 'f';
  if (type.name[0] == 'b') return kind == 'i' || kind == 'u' || kind == 'f' || kind == 'V';
  return kind == (type.name[0] == 's' ? 'i' : 'u');
}

}  // namespace

Contents read_npy(const std::string& path, const ElementType& type, uint64_t count, const Origin& origin) {
  std::string file;
  try {
    file = read_input_file(path, ".npy file");
  } catch (const InputError& error) {
    throw InputError(origin.file, origin.line, error.what());
  }
  Header header;
  size_t dimensions = 0;
  if (!parse_header(file, header)) reject(origin, fmt::format("no .npy header in {}", path), "a NumPy array file");
  const std::optional<uint64_t> elements = elements_of(header.shape, dimensions);
  if (!elements || *elements > count) {
    reject(origin, fmt::format("shape ({}) in {}", header.shape, path), fmt::format("at most {} elements", count));
  }
  if (!matches(header.descr, type)) {
    reject(origin, fmt::format("element type '{}' in {}", header.descr, path), type.name);
  }
  if (header.order != "False" && dimensions > 1) {
    reject(origin, fmt::format("Fortran order in {}", path), "C order");
  }
  if (header.data.size() != *elements * type.bytes) {
    reject(origin, fmt::format("{} bytes of data in {}", header.data.size(), path),
           fmt::format("{} for shape ({})", *elements * type.bytes, header.shape));
  }
  Contents contents;
  contents.elements.resize(*elements);
  for (size_t i = 0; i < *elements; ++i) {
    uint64_t value = 0;
    std::memcpy(&value, header.data.data() + i * type.bytes, type.bytes);
    contents.elements[i] = value;
  }
  return contents;
}

}  // namespace warpcheck::ptx
