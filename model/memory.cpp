#include "model/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "model/tensor_memory.h"

namespace warpcheck {

Memory::Memory(const LaunchModel& model, Journal& journal)
    : model_(model), journal_(journal), contents_(model.regions.size()) {
  for (size_t i = 0; i < contents_.size(); ++i) {
    const RegionSpec& spec = model.regions[i];
    Contents& c = contents_[i];
    c.initial.assign(spec.bytes, kPoison);
    c.initial_tags.assign(spec.bytes, static_cast<uint8_t>(ValueTag::kUninitialized));
    const size_t given = std::min<size_t>(spec.initial.size(), spec.bytes);
    for (size_t b = 0; b < given; ++b) {
      if (b < spec.uninitialized.size() && spec.uninitialized[b]) continue;
      c.initial[b] = spec.initial[b];
      c.initial_tags[b] = static_cast<uint8_t>(ValueTag::kKnown);
    }
  }
  reset();
}

void Memory::reset() {
  for (Contents& c : contents_) {
    c.bytes = c.initial;
    c.tags = c.initial_tags;
  }
}

const Variable* Memory::find(Range range) const {
  const std::vector<Variable>& variables = spec(range.region).variables;
  auto after = std::upper_bound(variables.begin(), variables.end(), range.offset,
                                [](uint64_t offset, const Variable& v) { return offset < v.offset; });
  if (after == variables.begin()) return nullptr;
  return &*--after;
}

bool Memory::inside(Range range) const {
  if (index(range.region) >= contents_.size()) return false;
  const RegionSpec& region = spec(range.region);
  if (range.offset > region.bytes || range.bytes > region.bytes - range.offset) return false;
  if (region.variables.empty()) return true;
  const Variable* variable = find(range);
  return variable != nullptr && range.offset + range.bytes <= variable->offset + variable->bytes;
}

ValueTag Memory::read(Range range, void* to) const {
  const Contents& c = contents_[index(range.region)];
  std::memcpy(to, c.bytes.data() + range.offset, range.bytes);
  uint8_t tags = 0;
  for (uint64_t b = range.offset; b < range.offset + range.bytes; ++b) tags |= c.tags[b];
  if ((tags & static_cast<uint8_t>(ValueTag::kUninitialized)) != 0) return ValueTag::kUninitialized;
  return static_cast<ValueTag>(tags);
}

void Memory::save(Range range) {
  Contents& c = contents_[index(range.region)];
  journal_.save(c.bytes.data() + range.offset, range.bytes);
  journal_.save(c.tags.data() + range.offset, range.bytes);
}

void Memory::write(Range range, const void* bytes, ValueTag tag) {
  save(range);
  Contents& c = contents_[index(range.region)];
  std::memcpy(c.bytes.data() + range.offset, bytes, range.bytes);
  std::memset(c.tags.data() + range.offset, static_cast<int>(tag), range.bytes);
}

void Memory::read_raw(Range range, uint8_t* bytes, uint8_t* tags) const {
  const Contents& c = contents_[index(range.region)];
  std::memcpy(bytes, c.bytes.data() + range.offset, range.bytes);
  std::memcpy(tags, c.tags.data() + range.offset, range.bytes);
}

void Memory::write_raw(Range range, const uint8_t* bytes, const uint8_t* tags) {
  save(range);
  Contents& c = contents_[index(range.region)];
  std::memcpy(c.bytes.data() + range.offset, bytes, range.bytes);
  std::memcpy(c.tags.data() + range.offset, tags, range.bytes);
}

void Memory::erase(Range range) {
  save(range);
  Contents& c = contents_[index(range.region)];
  std::memset(c.bytes.data() + range.offset, kPoison, range.bytes);
  std::memset(c.tags.data() + range.offset, static_cast<int>(ValueTag::kUninitialized), range.bytes);
}

bool Memory::equals(Range range, const void* bytes) const {
  const Contents& c = contents_[index(range.region)];
  for (uint64_t b = range.offset; b < range.offset + range.bytes; ++b) {
    if ((c.tags[b] & static_cast<uint8_t>(ValueTag::kUninitialized)) != 0) return false;
  }
  return std::memcmp(c.bytes.data() + range.offset, bytes, range.bytes) == 0;
}

ValueTag Memory::tag(RegionId region, uint64_t offset) const {
  return static_cast<ValueTag>(contents_[index(region)].tags[offset]);
}

std::array<uint64_t, 2> Memory::granule(RegionId region, uint64_t offset) const {
  std::array<uint64_t, 2> words = {0, 0};
  const std::vector<uint8_t>& bytes = contents_[index(region)].bytes;
  if (offset < bytes.size()) std::memcpy(words.data(), &bytes[offset], std::min<size_t>(16, bytes.size() - offset));
  return words;
}

uint32_t Memory::variable(Range range) const {
  const Variable* variable = find(range);
  return variable == nullptr ? 0 : static_cast<uint32_t>(variable - spec(range.region).variables.data());
}

std::string Memory::variable_name(Range range) const {
  const RegionSpec& region = spec(range.region);
  const Variable* variable = find(range);
  const std::string& name = variable == nullptr ? region.name : variable->name;
  if (region.space == Space::kGlobal) return "global " + name;
  if (region.space == Space::kTensor) {
    return model_.blocks == 1 ? "tensor memory" : fmt::format("tensor memory of block {}", region.block);
  }
  if (model_.blocks == 1) return "shared " + name;
  return fmt::format("shared {} of block {}", name, region.block);
}

std::string Memory::range_text(Range range) const {
  if (spec(range.region).space == Space::kTensor) return tensor_range_text(range.offset, range.bytes);
  const Variable* variable = find(range);
  const uint64_t base = variable == nullptr ? 0 : variable->offset;
  const uint64_t size = std::max<uint32_t>(1, variable == nullptr ? 1 : variable->element_bytes);
  if (variable != nullptr && variable->bytes <= size) return "";
  const uint64_t first = (range.offset - base) / size;
  const uint64_t last = (range.offset + std::max<uint32_t>(range.bytes, 1) - 1 - base) / size;
  return first == last ? fmt::format("[{}]", first) : fmt::format("[{}..{}]", first, last);
}

uint64_t Memory::digest() const {
  uint64_t h = 0;
  for (const Contents& c : contents_) {
    const auto* bytes = reinterpret_cast<const char*>(c.bytes.data());
    const auto* tags = reinterpret_cast<const char*>(c.tags.data());
    h = h * 0x9e3779b97f4a7c15ULL + std::hash<std::string_view>{}({bytes, c.bytes.size()});
    h = h * 0x9e3779b97f4a7c15ULL + std::hash<std::string_view>{}({tags, c.tags.size()});
  }
  return h;
}

}  // namespace warpcheck
