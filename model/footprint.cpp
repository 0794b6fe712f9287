#include "model/footprint.h"

namespace warpcheck {
namespace {

void join(std::vector<ByteSet>& into, const std::vector<ByteSet>& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) into[i] += from[i];
}

bool meet(const std::vector<ByteSet>& a, const std::vector<ByteSet>& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (boost::icl::intersects(a[i], b[i])) return true;
  }
  return false;
}

}  // namespace

void Footprint::note(std::vector<ByteSet>& sets, uint32_t region, uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  if (sets.size() <= region) sets.resize(region + 1);
  const auto bytes = boost::icl::interval<uint64_t>::right_open(begin, end);
  if (!boost::icl::contains(sets[region], bytes)) sets[region].add(bytes);
}

void Footprint::add(const Footprint& other) {
  join(read, other.read);
  join(written, other.written);
}

bool conflict(const Footprint& a, const Footprint& b) {
  return meet(a.written, b.written) || meet(a.written, b.read) || meet(a.read, b.written);
}

void Footprints::add(const Footprints& other) {
  if (parts.size() < other.parts.size()) parts.resize(other.parts.size());
  for (size_t i = 0; i < other.parts.size(); ++i) parts[i].add(other.parts[i]);
  join(unmet, other.unmet);
}

}  // namespace warpcheck
