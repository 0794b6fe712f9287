#include "frontends/cpp/sites.h"

namespace warpcheck {

SiteId SiteTable::intern(const std::source_location& at, const char* instruction) {
  const std::lock_guard lock(mutex_);
  const auto next = static_cast<SiteId>(sites_.size());
  const auto [entry, added] = ids_.try_emplace({at.file_name(), at.line(), at.column()}, next);
  if (added) {
    if (sites_.size() == kCapacity) {
      entry->second = kNoSite;
    } else {
      sites_.push_back({.instruction = instruction, .at = {at.file_name(), at.line()}, .inlined_at = {}});
    }
  }
  return entry->second;
}

Site SiteTable::site(SiteId id) const {
  const std::lock_guard lock(mutex_);
  return index(id) < sites_.size() ? sites_[index(id)] : Site{};
}

}  // namespace warpcheck
