#include "frontends/ptx/module.h"

#include <algorithm>

namespace warpcheck::ptx {

uint32_t type_bytes(std::string_view type) {
  struct Row {
    std::string_view name;
    uint32_t bytes;
  };
  static constexpr Row kRows[] = {
      {"pred", 1}, {"b8", 1},   {"u8", 1},     {"s8", 1},    {"b16", 2},   {"u16", 2},       {"s16", 2},     {"f16", 2},
      {"b32", 4},  {"u32", 4},  {"s32", 4},    {"f32", 4},   {"f16x2", 4}, {"bf16", 2},      {"bf16x2", 4},  {"tf32", 4},
      {"b64", 8},  {"u64", 8},  {"s64", 8},    {"f64", 8},   {"b128", 16}, {"texref", 8},    {"samplerref", 8}, {"surfref", 8},
      {"e4m3", 1}, {"e5m2", 1}, {"e4m3x2", 2}, {"e5m2x2", 2}, {"f32x2", 8}};
  const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == type; });
  return row == std::end(kRows) ? 0 : row->bytes;
}

Site site_of(const Module& module, const Instruction& instruction) {
  Site site{opcode_text(instruction), {module.file, instruction.line}, {}};
  const auto line_of = [&](const Location& location) {
    const auto file = module.files.find(location.file);
    return SourceLine{file == module.files.end() ? module.file : file->second, location.line};
  };
  if (instruction.location == kNone) return site;
  const Location* location = &module.locations[instruction.location];
  site.at = line_of(*location);
  while (location->inlined_at != kNone) {
    location = &module.locations[location->inlined_at];
    site.inlined_at.push_back(line_of(*location));
  }
  return site;
}

std::string opcode_text(const Instruction& instruction) {
  std::string text;
  for (const std::string_view part : instruction.opcode) {
    if (!text.empty()) text += '.';
    text += part;
  }
  return text;
}

}  // namespace warpcheck::ptx
