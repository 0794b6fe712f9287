// Which bytes of global memory the parts of a launch (its clusters) use, over all executions seen. Clusters meet nowhere
// else: parts whose footprints do not conflict can be explored apart (explorer/apart.h).
#pragma once

#include <boost/icl/interval_set.hpp>
#include <cstdint>
#include <vector>

namespace warpcheck {

using ByteSet = boost::icl::interval_set<uint64_t>;

// By region; regions that were not touched may be missing.
struct Footprint {
  std::vector<ByteSet> read, written;

  void note_read(uint32_t region, uint64_t begin, uint64_t end) { note(read, region, begin, end); }
  void note_write(uint32_t region, uint64_t begin, uint64_t end) { note(written, region, begin, end); }
  void add(const Footprint& other);

  // Free of allocation when the bytes are known already.
  static void note(std::vector<ByteSet>& sets, uint32_t region, uint64_t begin, uint64_t end);
};

// Whether one writes what the other reads or writes.
bool conflict(const Footprint& a, const Footprint& b);

// What a machine that keeps footprints has seen.
struct Footprints {
  std::vector<Footprint> parts;
  std::vector<ByteSet> unmet;  // by region: bytes that did not hold what the launch expects at the end of some run

  void add(const Footprints& other);
};

}  // namespace warpcheck
