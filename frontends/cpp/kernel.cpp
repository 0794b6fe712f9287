#include "frontends/cpp/kernel.h"

#include <algorithm>

#include "frontends/cpp/launch.h"
#include "frontends/cpp/threads.h"
#include "model/check.h"

namespace warpcheck {

namespace {

constexpr uint32_t kTrialSteps = 10'000;
constexpr uint64_t kGuard = 16;  // between the variables of shared memory, and their alignment

uint64_t aligned(uint64_t offset) { return (offset + kGuard - 1) / kGuard * kGuard; }

}  // namespace

void Launch::seal() {
  complete_model();
  while (try_once()) {
  }
}

std::unique_ptr<GpuMachine> Launch::machine() {
  return std::make_unique<GpuMachine>(model, std::make_unique<CppThreads>(*this), SiteTable::kCapacity);
}

// One execution, lowest agent first, to see which barriers the kernel uses. One that only another execution meets does
// not know of threads that have ended.
bool Launch::try_once() {
  auto bodies = std::make_unique<CppThreads>(*this);
  const CppThreads& threads = *bodies;
  GpuMachine machine(model, std::move(bodies), SiteTable::kCapacity);
  machine.set_checking(false);
  machine.reset();
  const auto next = [&] {
    const std::span<const AgentId> agents = machine.agents();
    return std::find_if(agents.begin(), agents.end(),
                        [&](AgentId agent) { return machine.pending(agent).status == Transition::Status::kEnabled; });
  };
  for (uint32_t steps = 0; steps < kTrialSteps; ++steps) {
    const auto agent = next();
    if (agent == machine.agents().end()) break;
    machine.step(*agent, 0);
  }
  const bool found = exits_block_barrier < threads.met_block_barrier() ||
                     exits_cluster_barrier < threads.met_cluster_barrier();
  exits_block_barrier = exits_block_barrier || threads.met_block_barrier();
  exits_cluster_barrier = exits_cluster_barrier || threads.met_cluster_barrier();
  return found;
}

void Launch::complete_model() {
  if (grid.blocks == 0 || grid.cluster == 0 || grid.blocks % grid.cluster != 0) {
    throw InputError("kernel " + name + ": blocks must be a positive multiple of the cluster's size");
  }
  if (roles.empty()) throw InputError("kernel " + name + ": no threads");
  model.blocks = grid.blocks;
  model.blocks_per_cluster = grid.cluster;
  model.regions = globals;
  for (uint32_t block = 0; block < grid.blocks; ++block) {
    RegionSpec region = shared;
    region.block = block;
    const auto id = static_cast<RegionId>(model.regions.size());
    model.regions.push_back(std::move(region));
    for (const MbarrierSpec& barrier : mbarriers) model.mbarriers.push_back({id, barrier.offset, barrier.arrivals});
    uint32_t in_block = 0;
    for (const Role& role : roles) {
      for (uint32_t rank = 0; rank < role.count; ++rank, ++in_block) {
        std::string thread = std::string(role.unit) + " " + std::to_string(in_block);
        if (grid.blocks > 1) thread += " of block " + std::to_string(block);
        model.threads.push_back({.block = block, .lanes = role.lanes, .name = std::move(thread)});
        for (uint32_t lane = 0; lane < role.lanes; ++lane) seats.push_back({&role, block, in_block, rank, lane});
      }
    }
  }
}

RegionId Launch::region(const Place& place, uint32_t block) const {
  if (!place.shared) return static_cast<RegionId>(place.region);
  uint32_t owner = block;
  if (place.rank != Place::kOwnBlock) owner = block / grid.cluster * grid.cluster + place.rank % grid.cluster;
  return static_cast<RegionId>(globals.size() + owner);
}

Kernel::Kernel(std::string name, Grid grid) : launch_(std::make_unique<Launch>()) {
  launch_->name = std::move(name);
  launch_->grid = grid;
  launch_->shared.name = "shared";
  launch_->shared.space = Space::kShared;
}

Kernel::Kernel(Kernel&&) noexcept = default;
Kernel::~Kernel() = default;

Place Kernel::place(Space space, std::string name, size_t size, uint32_t element_bytes, Bytes initial) {
  Variable variable{.name = std::move(name), .offset = 0, .bytes = size, .element_bytes = element_bytes};
  if (space == Space::kGlobal) {
    RegionSpec& region = launch_->globals.emplace_back();
    region.name = variable.name;
    region.bytes = size;
    region.initial = std::move(initial);
    region.variables.push_back(std::move(variable));
    return {.shared = false, .region = static_cast<uint32_t>(launch_->globals.size() - 1)};
  }
  RegionSpec& region = launch_->shared;
  variable.offset = aligned(region.bytes);
  region.bytes = aligned(variable.offset + size) + kGuard;
  if (!initial.empty()) {
    region.uninitialized.resize(variable.offset, true);
    for (size_t i = 0; i < region.uninitialized.size(); ++i) {
      if (i >= region.initial.size()) region.uninitialized[i] = true;
    }
    region.initial.resize(variable.offset, 0xff);
    region.initial.insert(region.initial.end(), initial.begin(), initial.end());
    region.uninitialized.resize(region.initial.size(), false);
  }
  const Place result{.shared = true, .offset = variable.offset};
  region.variables.push_back(std::move(variable));
  return result;
}

Mbarriers Kernel::mbarriers(std::string name, size_t count, uint32_t arrivals) {
  const Place first = place(Space::kShared, std::move(name), count * Mbarriers::kBytes, Mbarriers::kBytes, {});
  for (size_t i = 0; i < count; ++i) {
    launch_->mbarriers.push_back({kNoRegion, first.offset + i * Mbarriers::kBytes, arrivals});
  }
  return {first, count};
}

Mbarrier Kernel::mbarrier(std::string name, uint32_t arrivals) {
  const Place first = place(Space::kShared, std::move(name), Mbarriers::kBytes, Mbarriers::kBytes, {});
  launch_->mbarriers.push_back({kNoRegion, first.offset, arrivals});
  return {first};
}

Mbarrier Kernel::mbarrier_storage(std::string name) {
  return {place(Space::kShared, std::move(name), Mbarriers::kBytes, Mbarriers::kBytes, {})};
}

void Kernel::add_role(uint32_t count, Body body, const char* unit, uint32_t lanes) {
  launch_->roles.push_back({count, unit, lanes, std::move(body)});
}
void Kernel::threads(uint32_t count, Body body) { add_role(count, std::move(body), "thread", 1); }
void Kernel::warps(uint32_t count, Body body) { add_role(count, std::move(body), "warp", 1); }
void Kernel::warpgroups(uint32_t count, Body body) { add_role(count, std::move(body), "warpgroup", 4); }

void Kernel::expect_bytes(const Place& place, Bytes values, uint32_t element_bytes) {
  launch_->expectations.push_back({place, std::move(values), element_bytes});
}

void Kernel::report_uninitialized(bool on) { launch_->model.report_uninitialized = on; }
void Kernel::plain_steps(bool on) { launch_->model.plain_steps = on; }
void Kernel::detect_spins(bool on) { launch_->detect_spins = on; }
void Kernel::global_proxy_is_generic(bool on) { launch_->model.async_global_is_generic = on; }

std::unique_ptr<Machine> Kernel::make_machine() const {
  std::call_once(launch_->sealed, [this] { launch_->seal(); });
  return launch_->machine();
}

// Clusters meet in global memory only.
uint32_t Kernel::parts() const {
  std::call_once(launch_->sealed, [this] { launch_->seal(); });
  return launch_->model.blocks / std::max(1U, launch_->model.blocks_per_cluster);
}

std::string Kernel::name() const { return launch_->name; }
Site Kernel::site(SiteId id) const { return launch_->sites.site(id); }

std::vector<std::string> Kernel::assumptions() const {
  std::vector<std::string> result = {"atomics are interleaved sequentially consistently"};
  if (launch_->detect_spins) result.emplace_back("loops that poll keep no state outside their stack");
  return result;
}

}  // namespace warpcheck
