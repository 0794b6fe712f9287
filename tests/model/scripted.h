// A launch whose threads follow scripts of visible operations, for tests of the machine itself.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "model/gpu_machine.h"
#include "model/journal.h"

namespace warpcheck {

// What a thread does at one point: calls the thread API, and either posts a visible operation or returns false.
using ScriptStep = std::function<bool(GpuMachine&, ThreadId)>;
using Script = std::vector<ScriptStep>;

class ScriptedThreads final : public ThreadBodies {
 public:
  explicit ScriptedThreads(std::vector<Script> scripts) : scripts_(std::move(scripts)), at_(scripts_.size(), 0) {}

  void reset(GpuMachine& machine) override {
    machine_ = &machine;
    std::fill(at_.begin(), at_.end(), size_t{0});
  }
  void resume(ThreadId thread) override {
    const uint32_t i = index(thread);
    machine_->journal().save(at_[i]);
    while (at_[i] < scripts_[i].size()) {
      if (scripts_[i][at_[i]++](*machine_, thread)) return;
    }
    machine_->finish(thread);
  }
  void end_of_run(GpuMachine&, bool) override {}
  bool can_rewind() const override { return true; }
  std::string instruction(SiteId) const override { return "op"; }

 private:
  std::vector<Script> scripts_;
  std::vector<size_t> at_;
  GpuMachine* machine_ = nullptr;
};

// Threads of one block, 64 bytes of shared and 64 of global memory, zeroed.
inline LaunchModel small_launch(uint32_t threads) {
  LaunchModel launch;
  for (uint32_t i = 0; i < threads; ++i) launch.threads.push_back({0, 1, std::string("thread ").append(std::to_string(i))});
  RegionSpec shared;
  shared.name = "s";
  shared.space = Space::kShared;
  shared.bytes = 64;
  shared.initial.assign(64, 0);
  RegionSpec global = shared;
  global.name = "g";
  global.space = Space::kGlobal;
  launch.regions = {shared, global};
  return launch;
}

constexpr RegionId kShared{0}, kGlobal{1};

}  // namespace warpcheck
