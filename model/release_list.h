// What waits at a synchronization object for those who observe it: the bundles of its releases, each with the scope and
// block it was released at; the completions of asynchronous operations; and the control clock of every operation.
// PTX ISA, memory consistency model: release and acquire patterns, scopes.
#pragma once

#include <cstdint>

#include "model/clocks.h"
#include "model/gpu_machine.h"

namespace warpcheck {

struct Release {
  uint32_t block = 0;
  Scope scope = Scope::kBlock;
  uint32_t thread = 0;  // component of the releasing thread; words only, else 0
  BundleId bundle = kNoBundle;
};

struct Completion {
  uint32_t component = 0;
  uint32_t tick = 0;
  uint32_t issuer = 0;      // component of the issuing lane
  bool generic = false;     // cp.async: in generic, handed and control only
};

struct ReleaseList {
  explicit ReleaseList(Journal& journal) : releases(journal), completions(journal), sources(journal) {}

  JournaledVector<Release> releases;
  JournaledVector<Completion> completions;
  BundleId control = kNoBundle;      // row kControl: of all operations; row kInits: of relaxed cluster arrivals;
                                     // kTensorSync: of all; the async rows: of commits of the tensor core
  JournaledVector<uint32_t> sources;  // while recording: the recorded events that released here

  void clear(BundlePool& pool);
  // The bundle that a release of this block, scope and thread joins; made when it is missing.
  BundleId entry(BundlePool& pool, uint32_t block, Scope scope, uint32_t thread);
  BundleId control_bundle(BundlePool& pool);
  void set_control(BundleId bundle);
  // Makes this list hold what `other` holds (sources excepted).
  void assign(BundlePool& pool, const ReleaseList& other);
};

}  // namespace warpcheck
