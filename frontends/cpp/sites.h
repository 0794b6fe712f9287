// The places in a C++ kernel's source, numbered as they are met. One table a kernel, shared by its machines; each
// machine asks through a SiteCache of its own, which finds a place seen before without a lock and without allocation.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <source_location>
#include <string>
#include <tuple>

#include "model/finding.h"

namespace warpcheck {

// Thread-safe.
class SiteTable {
 public:
  // More places than that are all kNoSite.
  static constexpr size_t kCapacity = 4096;

  SiteId intern(const std::source_location& at, const char* instruction);
  Site site(SiteId id) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::tuple<std::string, uint32_t, uint32_t>, SiteId> ids_;  // file, line, column
  std::deque<Site> sites_;
};

// Not thread-safe: owned by one machine's threads.
class SiteCache {
 public:
  explicit SiteCache(SiteTable& table) : table_(table) {}

  SiteId intern(const std::source_location& at, const char* instruction) {
    const uint32_t hash = at.line() * 31 + at.column();
    Entry& entry = entries_[hash % entries_.size()];
    if (entry.file != at.file_name() || entry.line != at.line() || entry.column != at.column()) {
      entry = {at.file_name(), at.line(), at.column(), table_.intern(at, instruction)};
    }
    return entry.id;
  }

 private:
  struct Entry {
    const char* file = nullptr;
    uint32_t line = 0, column = 0;
    SiteId id = kNoSite;
  };
  SiteTable& table_;
  std::array<Entry, 512> entries_;
};

}  // namespace warpcheck
