#include "frontends/ptx/command_line_launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontends/ptx/launch_values.h"
#include "frontends/ptx/npy.h"

namespace warpcheck::ptx {
namespace {

std::array<uint32_t, 3> shape(const std::vector<uint32_t>& sizes, const Origin& origin) {
  std::array<uint32_t, 3> result = {1, 1, 1};
  if (sizes.size() > 3) reject(origin, fmt::format("{} sizes", sizes.size()), "x, x,y or x,y,z");
  std::copy(sizes.begin(), sizes.end(), result.begin());
  return result;
}

uint64_t value(std::string_view text, const ElementType& type, const Origin& origin) {
  const std::optional<Number> number = parse_number(text);
  if (!number) reject(origin, fmt::format("'{}'", text), fmt::format("a number of type {}", type.name));
  return encode(*number, type, origin);
}

// "1,2,_,4"; brackets around it are allowed.
Contents list(std::string_view text, const ElementType& type, uint64_t count, const Origin& origin) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  Contents contents;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view element = text.substr(0, comma);
    if (element == "_") {
      contents.elements.emplace_back(std::nullopt);
    } else {
      contents.elements.emplace_back(value(element, type, origin));
    }
    if (comma == text.size()) break;
    text.remove_prefix(comma + 1);
  }
  if (contents.elements.size() > count) {
    reject(origin, fmt::format("{} values", contents.elements.size()), fmt::format("at most {}", count));
  }
  return contents;
}

void add_argument(const std::string& text, LaunchSpec& spec) {
  const Origin origin{fmt::format("--arg {}", text), 0};
  const size_t equals = text.find('='), colon = text.find(':');
  const bool initialized = colon != std::string::npos;
  if (equals == std::string::npos || equals == 0 || (initialized && colon < equals) ||
      (!initialized && !text.ends_with(']'))) {
    reject(origin, fmt::format("'{}'", text), "name=type[count]:init or name=type:value");
  }
  const std::string type = text.substr(equals + 1, initialized ? colon - equals - 1 : std::string::npos);
  const std::string content = initialized ? text.substr(colon + 1) : "uninitialized";
  ArgSpec arg;
  arg.name = text.substr(0, equals);
  arg.origin = origin;
  if (type.find('[') == std::string::npos) {
    arg.kind = ArgSpec::Kind::kScalar;
    arg.type = parse_element_type(type, origin);
    arg.value = value(content, arg.type, origin);
  } else {
    arg.kind = ArgSpec::Kind::kBuffer;
    arg.buffer = arg.name;
    BufferSpec buffer;
    buffer.name = arg.name;
    buffer.origin = origin;
    const auto [element, count] = parse_buffer_type(type, origin);
    buffer.type = element;
    buffer.count = count;
    buffer.tolerance = default_tolerance(element);
    if (content.ends_with(".npy")) {
      buffer.init = read_npy(content, element, count, origin);
    } else if (auto fill = named_fill(content, element, count)) {
      buffer.init = *fill;
    } else if (content.empty() || std::string_view("0123456789-_[.").find(content[0]) == std::string_view::npos) {
      reject(origin, fmt::format("'{}'", content), "zero, one, iota, uninitialized, values or a .npy file");
    } else {
      buffer.init = list(content, element, count, origin);
    }
    spec.buffers.push_back(std::move(buffer));
  }
  spec.args.push_back(std::move(arg));
}

}  // namespace

bool LaunchFlags::any() const {
  return !entry.empty() || !grid.empty() || !block.empty() || !cluster.empty() || dynamic_shared || cooperative ||
         !args.empty();
}

LaunchSpec command_line_launch(const std::string& ptx, const LaunchFlags& flags) {
  LaunchSpec spec;
  spec.origin = {"command line", 0};
  spec.entry = flags.entry;
  spec.ptx = ptx;
  const Origin grid{"--grid", 0}, block{"--block", 0}, cluster{"--cluster", 0};
  spec.grid = shape(flags.grid, grid);
  spec.block = shape(flags.block, block);
  if (!flags.cluster.empty()) spec.cluster = shape(flags.cluster, cluster);
  spec.dynamic_shared = flags.dynamic_shared.value_or(0);
  spec.cooperative = flags.cooperative;
  check_shape(spec, grid, block, cluster, {"--dynamic-shared", 0});
  for (const std::string& arg : flags.args) add_argument(arg, spec);
  check_references(spec);
  return spec;
}

}  // namespace warpcheck::ptx
