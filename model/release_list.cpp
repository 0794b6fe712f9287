#include "model/release_list.h"

namespace warpcheck {

void ReleaseList::clear(BundlePool& pool) {
  for (const Release& release : releases) pool.release(release.bundle);
  pool.release(control);
  releases.clear();
  completions.clear();
  set_control(kNoBundle);
  sources.clear();
}

BundleId ReleaseList::entry(BundlePool& pool, uint32_t block, Scope scope, uint32_t thread) {
  for (const Release& release : releases) {
    if (release.block == block && release.scope == scope && release.thread == thread) return release.bundle;
  }
  releases.push_back({block, scope, thread, pool.allocate()});
  return releases.back().bundle;
}

void ReleaseList::set_control(BundleId bundle) {
  if (control == bundle) return;
  releases.journal().save(control);
  control = bundle;
}

BundleId ReleaseList::control_bundle(BundlePool& pool) {
  if (control == kNoBundle) set_control(pool.allocate());
  return control;
}

void ReleaseList::assign(BundlePool& pool, const ReleaseList& other) {
  clear(pool);
  for (const Release& release : other.releases) {
    Release copy = release;
    copy.bundle = pool.copy(release.bundle);
    releases.push_back(copy);
  }
  completions.assign(other.completions);
  if (other.control != kNoBundle) set_control(pool.copy(other.control));
}

}  // namespace warpcheck
