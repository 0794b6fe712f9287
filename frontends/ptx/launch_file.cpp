#include "frontends/ptx/launch_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string_view>

#include "frontends/ptx/input_file.h"
#include "frontends/ptx/launch_values.h"
#include "frontends/ptx/npy.h"
#include "model/machine.h"

namespace warpcheck::ptx {
namespace {

std::string describe(const toml::node& node) {
  if (const auto* text = node.as_string()) return fmt::format("'{}'", text->get());
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  if (node.is_array()) return "a list";
  if (node.is_table()) return "a table";
  return "a date or time";
}

// One TOML table of a launch file, with errors at the line of what they are about.
class Table {
 public:
  Table(const toml::table& table, const std::string& file) : table_(table), file_(file) {}

  Origin origin() const { return {file_, table_.source().begin.line}; }
  Origin origin(std::string_view key) const {
    const toml::node* node = table_.get(key);
    return {file_, node != nullptr ? node->source().begin.line : origin().line};
  }
  Origin origin(const toml::node& node) const { return {file_, node.source().begin.line}; }
  bool has(std::string_view key) const { return table_.contains(key); }

  void allow_only(std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, value] : table_) {
      if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
      std::string known;
      for (const std::string_view name : keys) known += fmt::format("{}{}", known.empty() ? "" : ", ", name);
      reject({file_, key.source().begin.line}, fmt::format("key '{}'", key.str()), "one of " + known);
    }
  }

  const toml::node& required(std::string_view key, const std::string& expected) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) reject(origin(), fmt::format("no `{}`", key), expected);
    return *node;
  }

  std::string text(std::string_view key) const {
    const toml::node& node = required(key, "a string");
    if (!node.is_string()) reject(origin(key), describe(node), fmt::format("a string for `{}`", key));
    return node.as_string()->get();
  }
  std::string text_or(std::string_view key, std::string other) const { return has(key) ? text(key) : std::move(other); }

  // A non-negative integer.
  uint64_t count(std::string_view key) const { return count_of(required(key, "a number"), key); }
  uint64_t count_or(std::string_view key, uint64_t other) const { return has(key) ? count(key) : other; }

  double real_or(std::string_view key, double other) const {
    if (!has(key)) return other;
    const toml::node& node = *table_.get(key);
    const auto value = node.value<double>();
    if (!value || node.is_boolean() || !(*value >= 0)) {
      reject(origin(key), describe(node), fmt::format("a number >= 0 for `{}`", key));
    }
    return *value;
  }

  bool flag_or(std::string_view key, bool other) const {
    if (!has(key)) return other;
    const toml::node& node = *table_.get(key);
    if (!node.is_boolean()) reject(origin(key), describe(node), fmt::format("true or false for `{}`", key));
    return node.as_boolean()->get();
  }

  std::vector<uint64_t> counts(std::string_view key) const {
    const toml::node& node = required(key, "a list of numbers");
    std::vector<uint64_t> result;
    if (!node.is_array()) reject(origin(key), describe(node), fmt::format("a list of numbers for `{}`", key));
    for (const toml::node& element : *node.as_array()) result.push_back(count_of(element, key));
    return result;
  }

  std::array<uint32_t, 3> shape(std::string_view key) const {
    const std::vector<uint64_t> sizes = counts(key);
    if (sizes.empty() || sizes.size() > 3) {
      reject(origin(key), fmt::format("{} numbers for `{}`", sizes.size(), key), "[x], [x, y] or [x, y, z]");
    }
    std::array<uint32_t, 3> result = {1, 1, 1};
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 0 || sizes[i] > 0x7fffffff) {
        reject(origin(key), fmt::format("{} in `{}`", sizes[i], key), "1 to 2147483647");
      }
      result[i] = static_cast<uint32_t>(sizes[i]);
    }
    return result;
  }

  std::vector<Table> tables(std::string_view key) const {
    std::vector<Table> result;
    if (!has(key)) return result;
    const toml::node& node = *table_.get(key);
    if (!node.is_array()) {
      reject(origin(key), describe(node), fmt::format("a list of tables for `{}` (as in [[{}]])", key, key));
    }
    for (const toml::node& element : *node.as_array()) {
      if (!element.is_table()) reject(origin(element), describe(element), fmt::format("a table in `{}`", key));
      result.emplace_back(*element.as_table(), file_);
    }
    return result;
  }

  Table table(std::string_view key) const {
    const toml::node& node = required(key, "a table");
    if (!node.is_table()) reject(origin(key), describe(node), fmt::format("a table for `{}`", key));
    return {*node.as_table(), file_};
  }

  const toml::node& node(std::string_view key) const { return *table_.get(key); }

 private:
  uint64_t count_of(const toml::node& node, std::string_view key) const {
    if (!node.is_integer() || node.as_integer()->get() < 0) {
      reject(origin(node), describe(node), fmt::format("a number >= 0 for `{}`", key));
    }
    return static_cast<uint64_t>(node.as_integer()->get());
  }

  const toml::table& table_;
  const std::string& file_;
};

class Reader {
 public:
  Reader(const std::string& path, const toml::table& root) : path_(path), root_(root, path_) {}

  LaunchSpec read(const std::optional<std::string>& ptx);

 private:
  std::string resolve(const std::string& name) const {
    return (std::filesystem::path(path_).parent_path() / name).lexically_normal().string();
  }
  Number number(const toml::node& node, const ElementType& type) const {
    if (const auto* integer = node.as_integer()) return integer->get();
    if (const auto* real = node.as_floating_point()) return real->get();
    reject(root_.origin(node), describe(node), fmt::format("a number of type {}", type.name));
  }
  Contents list(const Table& table, std::string_view key, const ElementType& type, uint64_t count) const;
  Contents contents(const Table& table, std::string_view key, const ElementType& type, uint64_t count) const;
  BufferSpec buffer(const Table& table, const std::string& name) const;
  TensorMapSpec tensor_map(const Table& table) const;
  std::vector<FieldSpec> fields(const Table& table, uint64_t bytes) const;
  FieldSpec field(const Table& table, uint64_t bytes) const;
  ArgSpec argument(const Table& table, size_t index);
  SymbolSpec symbol(const Table& table) const;

  std::string path_;
  Table root_;
  LaunchSpec spec_;
};

Contents Reader::list(const Table& table, std::string_view key, const ElementType& type, uint64_t count) const {
  const toml::array& values = *table.node(key).as_array();
  if (values.size() > count) {
    reject(table.origin(key), fmt::format("{} values for `{}`", values.size(), key),
           fmt::format("at most {} (the buffer's count)", count));
  }
  Contents contents;
  for (const toml::node& value : values) {
    if (value.is_string() && value.as_string()->get() == "_") {
      contents.elements.emplace_back(std::nullopt);
    } else {
      contents.elements.emplace_back(encode(number(value, type), type, root_.origin(value)));
    }
  }
  return contents;
}

Contents Reader::contents(const Table& table, std::string_view key, const ElementType& type, uint64_t count) const {
  const toml::node& node = table.node(key);
  if (node.is_array()) return list(table, key, type, count);
  const std::string expected = key == "expect"
                                   ? "a list of values or a .npy file"
                                   : "one of zero, one, iota, uninitialized, a list of values, a .npy file";
  if (!node.is_string()) reject(table.origin(key), describe(node), expected);
  const std::string& text = node.as_string()->get();
  if (text.ends_with(".npy")) return read_npy(resolve(text), type, count, table.origin(key));
  if (key != "expect") {
    if (auto fill = named_fill(text, type, count)) return *fill;
  }
  reject(table.origin(key), describe(node), expected);
}

BufferSpec Reader::buffer(const Table& table, const std::string& name) const {
  BufferSpec spec;
  spec.name = name;
  spec.origin = table.origin();
  const auto [type, count] = parse_buffer_type(table.text("buffer"), table.origin("buffer"));
  spec.type = type;
  spec.count = count;
  spec.tolerance = table.real_or("tolerance", default_tolerance(type));
  spec.fields = fields(table, count * type.bytes);
  if (table.has("init")) spec.init = contents(table, "init", type, count);
  if (table.has("expect")) spec.expect = contents(table, "expect", type, count);
  return spec;
}

TensorMapSpec Reader::tensor_map(const Table& table) const {
  table.allow_only({"over", "offset", "type", "dims", "strides", "box", "element_strides", "swizzle", "interleave",
                    "fill"});
  TensorMapSpec map;
  map.over = table.text("over");
  map.offset = table.count_or("offset", 0);
  map.type = parse_element_type(table.text("type"), table.origin("type"));
  map.dims = table.counts("dims");
  if (map.dims.empty() || map.dims.size() > 5) {
    reject(table.origin("dims"), fmt::format("{} dimensions", map.dims.size()), "1 to 5");
  }
  if (table.has("strides") || map.dims.size() > 1) map.strides = table.counts("strides");
  if (map.strides.size() + 1 != map.dims.size()) {
    reject(table.origin("strides"), fmt::format("{} strides", map.strides.size()),
           fmt::format("{} (of dimensions 1 and up)", map.dims.size() - 1));
  }
  const auto sizes = [&](std::string_view key, uint64_t limit) {
    std::vector<uint32_t> result;
    for (const uint64_t size : table.counts(key)) {
      if (size == 0 || size > limit) {
        reject(table.origin(key), fmt::format("{} in `{}`", size, key), fmt::format("1 to {}", limit));
      }
      result.push_back(static_cast<uint32_t>(size));
    }
    if (result.size() != map.dims.size()) {
      reject(table.origin(key), fmt::format("{} numbers for `{}`", result.size(), key),
             fmt::format("{}, one a dimension", map.dims.size()));
    }
    return result;
  };
  for (const uint64_t size : map.dims) {
    if (size == 0 || size > 1ULL << 32) reject(table.origin("dims"), fmt::format("{}", size), "1 to 4294967296");
  }
  for (const uint64_t stride : map.strides) {
    if (stride >= 1ULL << 40) reject(table.origin("strides"), fmt::format("{}", stride), "below 2^40");
  }
  map.box = sizes("box", 256);
  map.element_strides = table.has("element_strides") ? sizes("element_strides", 8)
                                                     : std::vector<uint32_t>(map.dims.size(), 1);
  const auto choice = [&](std::string_view key, const std::string& other, std::string_view expected) {
    const std::string value = table.text_or(key, other);
    if (fmt::format(", {},", expected).find(fmt::format(", {},", value)) == std::string::npos) {
      reject(table.origin(key), fmt::format("'{}'", value), fmt::format("one of {}", expected));
    }
    return value;
  };
  map.swizzle = choice("swizzle", "none", "none, 32B, 64B, 128B");
  map.interleave = choice("interleave", "none", "none, 16B, 32B");
  map.fill = choice("fill", "zero", "zero, nan");
  return map;
}

FieldSpec Reader::field(const Table& table, uint64_t bytes) const {
  table.allow_only({"at", "address", "offset", "type", "value"});
  FieldSpec field;
  field.at = table.count("at");
  if (table.has("address")) {
    field.address = table.text("address");
    field.offset = table.count_or("offset", 0);
  } else {
    const ElementType type = parse_element_type(table.text("type"), table.origin("type"));
    const toml::node& value = table.required("value", "an `address`, or a `type` and a `value`");
    const auto append = [&](const toml::node& element) {
      const uint64_t bits = encode(number(element, type), type, root_.origin(element));
      for (uint32_t i = 0; i < type.bytes; ++i) field.bytes.push_back(static_cast<uint8_t>(bits >> (8 * i)));
    };
    if (value.is_array()) {
      for (const toml::node& element : *value.as_array()) append(element);
    } else {
      append(value);
    }
  }
  const uint64_t size = field.address ? 8 : field.bytes.size();
  if (field.at > bytes || size > bytes - field.at) {
    reject(table.origin("at"), fmt::format("a field of {} bytes at {}", size, field.at),
           fmt::format("one inside {} bytes", bytes));
  }
  return field;
}

std::vector<FieldSpec> Reader::fields(const Table& table, uint64_t bytes) const {
  std::vector<FieldSpec> result;
  for (const Table& entry : table.tables("fields")) result.push_back(field(entry, bytes));
  return result;
}

ArgSpec Reader::argument(const Table& table, size_t index) {
  ArgSpec arg;
  arg.origin = table.origin();
  arg.name = table.text_or("name", fmt::format("arg{}", index));
  if (table.has("buffer")) {
    table.allow_only({"name", "buffer", "init", "expect", "tolerance", "fields"});
    arg.kind = ArgSpec::Kind::kBuffer;
    arg.buffer = arg.name;
    spec_.buffers.push_back(buffer(table, arg.name));
  } else if (table.has("scalar")) {
    table.allow_only({"name", "scalar", "value"});
    arg.kind = ArgSpec::Kind::kScalar;
    arg.type = parse_element_type(table.text("scalar"), table.origin("scalar"));
    const toml::node& value = table.required("value", fmt::format("a number of type {}", arg.type.name));
    arg.value = encode(number(value, arg.type), arg.type, table.origin("value"));
  } else if (table.has("tensormap")) {
    table.allow_only({"name", "tensormap"});
    arg.kind = ArgSpec::Kind::kTensorMap;
    arg.tensor_map = tensor_map(table.table("tensormap"));
  } else if (table.has("struct")) {
    table.allow_only({"name", "struct", "fields"});
    arg.kind = ArgSpec::Kind::kStruct;
    arg.struct_bytes = table.count("struct");
    if (arg.struct_bytes == 0 || arg.struct_bytes > 32764) {
      reject(table.origin("struct"), fmt::format("a struct of {} bytes", arg.struct_bytes), "1 to 32764");
    }
    arg.fields = fields(table, arg.struct_bytes);
  } else if (table.has("address")) {
    table.allow_only({"name", "address", "offset"});
    arg.kind = ArgSpec::Kind::kAddress;
    arg.buffer = table.text("address");
    arg.offset = table.count_or("offset", 0);
  } else {
    reject(table.origin(), fmt::format("argument '{}' without a kind", arg.name),
           "one of buffer, scalar, tensormap, struct, address");
  }
  return arg;
}

SymbolSpec Reader::symbol(const Table& table) const {
  table.allow_only({"name", "init", "type"});
  SymbolSpec symbol;
  symbol.origin = table.origin();
  symbol.name = table.text("name");
  if (table.has("type")) symbol.type = parse_element_type(table.text("type"), table.origin("type"));
  const toml::node& init = table.required("init", "a list of values");
  if (!init.is_array()) reject(table.origin("init"), describe(init), "a list of values");
  symbol.init = list(table, "init", symbol.type.value_or(ElementType{"b64", 8, false}), kMaxElements);
  return symbol;
}

LaunchSpec Reader::read(const std::optional<std::string>& ptx) {
  root_.allow_only({"entry", "ptx", "grid", "block", "cluster", "dynamic_shared", "cooperative", "printed", "arg",
                    "symbol", "before", "buffer"});
  spec_.origin = {path_, 0};
  spec_.entry = root_.text_or("entry", "");
  if (root_.has("ptx")) spec_.ptx = resolve(root_.text("ptx"));
  if (ptx) spec_.ptx = *ptx;
  if (spec_.ptx.empty()) reject({path_, 0}, "no `ptx`", "a PTX file there or by --ptx");
  if (root_.has("grid")) spec_.grid = root_.shape("grid");
  if (root_.has("block")) spec_.block = root_.shape("block");
  if (root_.has("cluster")) spec_.cluster = root_.shape("cluster");
  spec_.dynamic_shared = root_.count_or("dynamic_shared", 0);
  spec_.cooperative = root_.flag_or("cooperative", false);
  if (root_.has("printed")) spec_.printed = root_.text("printed");
  check_shape(spec_, root_.origin("grid"), root_.origin("block"), root_.origin("cluster"),
              root_.origin("dynamic_shared"));
  for (const Table& table : root_.tables("arg")) spec_.args.push_back(argument(table, spec_.args.size()));
  for (const Table& table : root_.tables("buffer")) {
    table.allow_only({"name", "buffer", "init", "expect", "tolerance", "fields"});
    spec_.buffers.push_back(buffer(table, table.text("name")));
  }
  for (const Table& table : root_.tables("symbol")) spec_.symbols.push_back(symbol(table));
  for (const Table& table : root_.tables("before")) {
    table.allow_only({"launch"});
    const std::string launch = resolve(table.text("launch"));
    if (!std::filesystem::is_regular_file(launch)) {
      reject(table.origin("launch"), fmt::format("no file {}", launch), "a launch file");
    }
    spec_.before.push_back(launch);
  }
  check_references(spec_);
  return std::move(spec_);
}

}  // namespace

LaunchSpec parse_launch_file(const std::string& text, const std::string& path, const std::optional<std::string>& ptx) {
  toml::table root;
  try {
    root = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    std::string what(error.description());
    for (char& c : what) c = c == '\n' ? ' ' : c;
    throw InputError(path, error.source().begin.line, fmt::format("{}, expected TOML", what));
  }
  return Reader(path, root).read(ptx);
}

LaunchSpec read_launch_file(const std::string& path, const std::optional<std::string>& ptx) {
  return parse_launch_file(read_input_file(path, "launch file"), path, ptx);
}

}  // namespace warpcheck::ptx
