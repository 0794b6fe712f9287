// The contents of a launch's memory: bytes and, for each, whether it was ever written and with a computed value.
// Uninitialized memory reads as poison, 0xff in every byte (NaN for floats, -1 or the largest value for integers).
// Also resolves addresses to the named variables of a region, for reports and for bounds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/gpu_machine.h"
#include "model/journal.h"
#include "model/launch_model.h"

namespace warpcheck {

constexpr uint8_t kPoison = 0xff;

class Memory {
 public:
  Memory(const LaunchModel& model, Journal& journal);

  void reset();  // initial contents

  // Whether the range lies inside one variable of its region.
  bool inside(Range range) const;
  ValueTag read(Range range, void* to) const;               // range inside
  void write(Range range, const void* bytes, ValueTag tag);
  void read_raw(Range range, uint8_t* bytes, uint8_t* tags) const;  // tags: one ValueTag a byte
  void write_raw(Range range, const uint8_t* bytes, const uint8_t* tags);
  void erase(Range range);                                  // as if never written
  bool equals(Range range, const void* bytes) const;        // and initialized; opaque values by their bits

  std::span<const uint8_t> bytes(RegionId region) const { return contents_[index(region)].bytes; }
  ValueTag tag(RegionId region, uint64_t offset) const;
  const RegionSpec& spec(RegionId region) const { return model_.regions[index(region)]; }

  // The 16-byte granule at offset (a multiple of 16), zero beyond the region's end.
  std::array<uint64_t, 2> granule(RegionId region, uint64_t offset) const;

  std::string variable_name(Range range) const;  // "shared ring", "global out", with the block where there are several
  std::string range_text(Range range) const;     // "[0..31]"
  uint32_t variable(Range range) const;          // its index in the region; 0 where the region has no parts
  uint64_t digest() const;

 private:
  struct Contents {
    std::vector<uint8_t> bytes, tags, initial, initial_tags;  // sizes never change
  };
  const Variable* find(Range range) const;

  void save(Range range);

  const LaunchModel& model_;
  Journal& journal_;
  std::vector<Contents> contents_;
};

}  // namespace warpcheck
