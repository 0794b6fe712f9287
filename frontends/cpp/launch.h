// What a Kernel declares, and what its machines run. Internal to this folder.
//
// Changes only until `seal`; read by many OS threads afterwards (the site table locks for itself).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "frontends/cpp/handles.h"
#include "frontends/cpp/kernel.h"
#include "frontends/cpp/sites.h"
#include "model/gpu_machine.h"
#include "model/launch_model.h"

namespace warpcheck {

// A number of threads in each block with the same code.
struct Role {
  uint32_t count = 1;
  const char* unit = "thread";
  uint32_t lanes = 1;  // 4: a warpgroup, which may fork
  Kernel::Body body;
};

// A thread of the launch, before it runs.
struct ThreadSeat {
  const Role* role = nullptr;
  uint32_t block = 0, index = 0, rank = 0;
  uint32_t lane = 0;  // only lane 0 starts; the others are for forked warps
};

struct Expectation {
  Place place;
  std::vector<uint8_t> values;
  uint32_t element_bytes = 1;
};

struct Launch {
  std::string name;
  Grid grid;
  std::vector<Role> roles;
  std::vector<RegionSpec> globals;
  RegionSpec shared;                    // of one block
  std::vector<MbarrierSpec> mbarriers;  // of one block
  std::vector<Expectation> expectations;
  bool detect_spins = true;
  // Threads that end count as arrived at these barriers, which takes a step for each: only if a trial run met them.
  bool exits_block_barrier = false, exits_cluster_barrier = false;
  LaunchModel model;              // complete once sealed
  std::vector<ThreadSeat> seats;  // by clock component
  mutable SiteTable sites;
  std::once_flag sealed;

  // Completes the model, and tries the kernel once. Throws InputError if the launch makes no sense.
  void seal();
  std::unique_ptr<GpuMachine> machine();
  RegionId region(const Place& place, uint32_t block) const;

 private:
  void complete_model();
  bool try_once();
};

}  // namespace warpcheck
