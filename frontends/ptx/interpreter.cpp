#include "frontends/ptx/interpreter.h"

#include <algorithm>

#include "frontends/ptx/address_map.h"
#include "model/check.h"

namespace warpcheck::ptx {
namespace {

constexpr uint64_t kMostInstructions = 1'000'000;  // between two visible steps

}  // namespace

void Interpreter::reset(GpuMachine& machine) {
  machine_ = &machine;
  gave_up_ = false;
  stamp_ = 0;
  load_values_.reset();
  uninitialized_.clear();
  reported_.clear();
  issued_.clear();
  const Shape& shape = kernel_.shape;
  const uint32_t threads = shape.threads();
  warps_.resize(static_cast<size_t>(shape.blocks()) * shape.warps());
  fragments_.resize(static_cast<size_t>(shape.blocks()) * threads);
  for (Fragment& fragment : fragments_) fragment.live = false;
  for (uint32_t block = 0; block < shape.blocks(); ++block) {
    for (uint32_t warp = 0; warp < shape.warps(); ++warp) start(block, warp, block * threads + warp * 32);
  }
}

void Interpreter::start(uint32_t block, uint32_t number, uint32_t first) {
  Warp& warp = warps_[static_cast<size_t>(block) * kernel_.shape.warps() + number];
  warp.block = block;
  warp.number = number;
  warp.first = first;
  const uint32_t lanes = std::min(32U, kernel_.shape.threads() - number * 32);
  warp.all = lanes == 32 ? ~0U : (1U << lanes) - 1;
  warp.exited = 0;
  warp.loads = &load_values_;
  warp.ended.fill(kNoSite);
  warp.cluster_phase.fill(kNone);
  warp.tickets.clear();
  warp.mma_groups.clear();
  warp.mma_issued = warp.mma_awaited = warp.loads_awaited = warp.groups_awaited = 0;
  warp.epoch = 1;
  if (warp.fresh.empty()) {
    // A register that nothing was written to has some value: it may be moved about, and must not decide anything.
    warp.slots.assign(kernel_.slots, Slot{.opaque = ~0U});
    fill_specials(warp);
    warp.fresh = warp.slots;
  }
  warp.slots = warp.fresh;
  warp.local.assign(kernel_.local_bytes == 0 ? 0 : 32, std::vector<uint8_t>(kernel_.local_bytes, 0xff));
  warp.local_tags.assign(warp.local.size(), std::vector<uint8_t>(kernel_.local_bytes, kUninitializedTag));
  Fragment& fragment = fragments_[first];
  fragment = Fragment{};
  fragment.warp = &warp;
  fragment.thread = ThreadId{first};
  fragment.live = true;
  fragment.paths = {{0, kNone, warp.all}};
}

void Interpreter::resume(ThreadId thread) {
  Fragment& fragment = fragments_[index(thread)];
  CHECK(fragment.live);
  if (gave_up_) return end(fragment);
  for (uint64_t budget = kMostInstructions; run(fragment);) {
    if (--budget > 0) continue;
    const Code& code = kernel_.code[fragment.path().pc];
    report(fragment, fragment.path().lanes, code, FindingKind::kLimit, "loop", "",
           "more than 1000000 instructions without a synchronization");
    return give_up(fragment);
  }
}

// One instruction of the running path; false when the fragment has stopped.
bool Interpreter::run(Fragment& fragment) {
  Path& path = fragment.path();
  if (path.pc == path.join) {
    fragment.paths.pop_back();
    return true;
  }
  const Code& code = kernel_.code[path.pc];
  LaneMask active = path.lanes;
  if (fragment.stage == 0 && code.predicate != kNone && !predicated(fragment, code, path.lanes, active)) return false;
  if (code.lanes != nullptr) {
    if (active != 0) code.lanes(*fragment.warp, code, active);
    ++path.pc;
    return true;
  }
  if (active == 0) {
    ++path.pc;
    return true;
  }
  if (!code.quiet && !code.mild && fragment.poll.pc != path.pc) {
    fragment.poll.pc = kNone;
    fragment.effects = next_stamp();
  }
  switch (code.control(*this, fragment, code, active)) {
    case Flow::kNext:
      ++fragment.path().pc;
      return true;
    case Flow::kJump:
      return true;
    case Flow::kStop:
      return false;
  }
  return false;
}

// The lanes for which the instruction's predicate holds.
bool Interpreter::predicated(Fragment& fragment, const Code& code, LaneMask lanes, LaneMask& active) {
  if (!takes_effect(fragment, code, Source{code.predicate, 0}, lanes, "predicate")) return false;
  const Slot& slot = fragment.warp->slots[code.predicate];
  LaneMask holds = 0;
  each_lane(lanes, [&](uint32_t lane) { holds |= static_cast<LaneMask>(slot.lane[lane] & 1) << lane; });
  active = lanes & (code.predicate_negated ? ~holds : holds);
  return true;
}

bool Interpreter::isolate(Fragment& fragment, LaneMask active, bool others_repeat) {
  const LaneMask all = machine_->lanes(fragment.thread);
  const uint32_t pc = fragment.path().pc;
  const std::vector<Path> alone = {{pc, kNone, active}};
  if (active == all) {
    fragment.paths = alone;
    return true;
  }
  std::vector<Path> rest = std::move(fragment.paths);
  if (!others_repeat) ++rest.back().pc;
  std::erase_if(rest, [&](Path& path) { return (path.lanes &= ~active) == 0; });
  const bool lowest_stays = (active & (all & (~all + 1))) != 0;
  const ThreadId made = machine_->split(fragment.thread, lowest_stays ? all & ~active : active);
  Fragment& other = fragments_[index(made)];
  other = fragment;
  other.thread = made;
  other.live = true;
  other.paths = lowest_stays ? rest : alone;
  fragment.paths = lowest_stays ? alone : std::move(rest);
  return lowest_stays;
}

Fragment& Interpreter::meet(Fragment& fragment) {
  Fragment* holder = &fragment;
  fragment.waiting = true;
  each_fragment(*fragment.warp, [&](Fragment& other) {
    if (&other == holder || !other.waiting || other.object != fragment.object || other.phase != fragment.phase ||
        other.path().pc != fragment.path().pc) {
      return;
    }
    Fragment& into = other.thread < holder->thread ? other : *holder;
    Fragment& from = &into == &other ? *holder : other;
    machine_->merge(into.thread, from.thread);
    into.path().lanes |= from.path().lanes;
    into.effects = std::max(into.effects, from.effects);
    into.polled.insert(into.polled.end(), from.polled.begin(), from.polled.end());
    if (from.poll.pc != kNone && (into.poll.pc == kNone || from.poll.stamp > into.poll.stamp)) into.poll = from.poll;
    from.live = false;
    holder = &into;
  });
  return *holder;
}

void Interpreter::end(Fragment& fragment) {
  const LaneMask lanes = machine_->lanes(fragment.thread);
  fragment.warp->exited |= lanes;
  if (!fragment.paths.empty()) {
    const uint32_t pc = fragment.path().pc;
    each_lane(lanes, [&](uint32_t lane) { fragment.warp->ended[lane] = SiteId{pc}; });
  }
  fragment.live = false;
  machine_->finish(fragment.thread);
}

void Interpreter::post(Fragment& fragment, const Code& code, VisibleOp op) {
  op.site = code.site;
  machine_->post(fragment.thread, op);
}

Interpreter::Place Interpreter::place(const Fragment& fragment, MemorySpace space, uint64_t address, uint32_t bytes) const {
  Place place;
  if (space == MemorySpace::kGeneric) {
    space = in_window(address, kGlobalWindow)   ? MemorySpace::kGlobal
            : in_window(address, kSharedWindow) ? MemorySpace::kSharedCluster
            : in_window(address, kParamWindow)  ? MemorySpace::kParam
            : in_window(address, kLocalWindow)  ? MemorySpace::kLocal
                                                : MemorySpace::kGeneric;
    if (space != MemorySpace::kGlobal) address &= kWindowBytes - 1;
  }
  place.space = space;
  switch (space) {
    case MemorySpace::kGlobal:
    case MemorySpace::kConst: {
      const uint64_t region = (address - kGlobalWindow) / kBufferSpacing;
      place.space = MemorySpace::kGlobal;
      place.mapped = in_window(address, kGlobalWindow) && region < kernel_.global_regions;
      place.range = {RegionId{static_cast<uint32_t>(region)}, address - buffer_address(static_cast<uint32_t>(region)), bytes};
      break;
    }
    case MemorySpace::kShared:
    case MemorySpace::kSharedCluster: {
      if (in_window(address, kSharedWindow)) address -= kSharedWindow;
      const uint64_t rank = address >> kRankShift;
      uint32_t block = fragment.warp->block;
      const uint32_t size = kernel_.shape.cluster_blocks();
      if (rank != 0) block = block / size * size + static_cast<uint32_t>(rank) - 1;
      place.space = MemorySpace::kShared;
      place.mapped = rank <= size;
      place.range = {RegionId{shared_region(block)}, address & ((1U << kRankShift) - 1), bytes};
      break;
    }
    case MemorySpace::kParam:
    case MemorySpace::kLocal:
      place.offset = in_window(address, space == MemorySpace::kParam ? kParamWindow : kLocalWindow)
                         ? address & (kWindowBytes - 1) : address;
      place.mapped = place.offset <= ~uint64_t{0} - bytes &&
                     place.offset + bytes <= (space == MemorySpace::kParam ? kernel_.params.size() : kernel_.local_bytes);
      break;
    case MemorySpace::kGeneric:
      place.mapped = false;
      break;
  }
  return place;
}

bool Interpreter::takes_effect(Fragment& fragment, const Code& code, const Source& source, LaneMask active, const char* use) {
  if (source.slot == kNone) return true;
  note_effect(*fragment.warp, source, active);
  Slot& slot = fragment.warp->slots[source.slot];
  const LaneMask uninitialized = slot.uninitialized & active;
  if (uninitialized != 0) {
    slot.uninitialized &= ~uninitialized;
    if (reported_.emplace(slot.origin, FindingKind::kUninitializedRead).second) {
      const UninitializedLoad& load = uninitialized_[slot.origin];
      Finding finding;
      finding.kind = FindingKind::kUninitializedRead;
      finding.object = load.object;
      finding.message = "an uninitialized value was read and used as " + std::string(use) + " by " + instruction(code.site);
      finding.sites = {load.site, machine_->site_of_thread(fragment.thread, uninitialized, use, code.site)};
      machine_->report(std::move(finding));
    }
  }
  if ((slot.pending & active) != 0) settle_pending(fragment, code, source, active, use);
  if ((slot.opaque & active) == 0) return true;
  unsupported(fragment, code, std::string("a value that is not computed decides as ") + use);
  return false;
}

LaneMask Interpreter::stored(Fragment& fragment, const Code& code, const Source& source, LaneMask active) {
  if (source.slot == kNone) return 0;
  Slot& slot = fragment.warp->slots[source.slot];
  const LaneMask opaque = slot.opaque;
  slot.opaque = 0;
  takes_effect(fragment, code, source, active, "stored value");
  slot.opaque = opaque;
  return opaque & active;
}

// The accumulators of wgmma are an error before wgmma.wait_group. What tcgen05.ld returns is guarded by the hardware: using
// it before wait::ld objects to the strict reading alone, and says that this load is complete.
void Interpreter::settle_pending(Fragment& fragment, const Code& code, const Source& source, LaneMask active, const char* use) {
  if (source.slot == kNone) return;
  Slot& slot = fragment.warp->slots[source.slot];
  const LaneMask lanes = pending_lanes(*fragment.warp, slot) & active;
  if (lanes == 0) return;
  const Ticket ticket = fragment.warp->tickets[slot.ticket];
  if (ticket.load) machine_->use_tensor_load(fragment.thread, lanes, fragment.warp->first, ticket.number);
  slot.pending &= ~lanes;  // said once
  if (!reported_.emplace(ticket.site, FindingKind::kRegisterHazard).second) return;
  Finding finding;
  finding.kind = FindingKind::kRegisterHazard;
  finding.strict = ticket.load;
  finding.object = "registers of " + instruction(ticket.site);
  finding.message = instruction(ticket.site) + " may not have written its result when " + instruction(code.site) + " uses it as " +
                    use + ": nothing waits for it before";
  finding.sites = {machine_->site_of_thread(fragment.thread, lanes, "asynchronous register write", ticket.site),
                   machine_->site_of_thread(fragment.thread, lanes, use, code.site)};
  machine_->report(std::move(finding));
}

void Interpreter::remember_uninitialized(const Fragment& fragment, const Code& code, const std::string& object, uint32_t lane) {
  if (uninitialized_.contains(code.site)) return;
  uninitialized_[code.site] = {object,
                               machine_->site_of_thread(fragment.thread, 1U << lane, "generic read", code.site)};
}

void Interpreter::report(Fragment& fragment, LaneMask lanes, const Code& code, FindingKind kind, const char* role,
                         std::string object, std::string message) {
  if (!reported_.emplace(code.site, kind).second) return;
  Finding finding;
  finding.kind = kind;
  finding.object = std::move(object);
  finding.message = std::move(message);
  finding.sites = {machine_->site_of_thread(fragment.thread, lanes, role, code.site)};
  machine_->report(std::move(finding));
}

Flow Interpreter::unsupported(Fragment& fragment, const Code& code, const std::string& what) {
  report(fragment, fragment.path().lanes, code, FindingKind::kUnsupported, "not run", instruction(code.site), what);
  give_up(fragment);
  return Flow::kStop;
}

void Interpreter::give_up(Fragment& fragment) {
  gave_up_ = true;
  end(fragment);
}

void Interpreter::report_skipped_barrier(Fragment& arriver, const Code& code) {
  if (!reported_.emplace(code.site, FindingKind::kDivergence).second) return;
  Finding finding;
  finding.kind = FindingKind::kDivergence;
  finding.strict = true;
  finding.object = machine_->name(arriver.object);
  finding.message = "some lanes of the warp have exited and never reach this aligned barrier";
  finding.sites = {machine_->site_of_thread(arriver.thread, arriver.path().lanes, "barrier", code.site)};
  machine_->report(std::move(finding));
}

void Interpreter::end_of_run(GpuMachine& machine, bool deadlocked) {
  if (gave_up_) return;
  check_masks();
  if (!deadlocked) expectation_.check(machine);
}

// Fragments that still wait for lanes of their warp: those have exited or wait elsewhere.
void Interpreter::check_masks() {
  for (const Warp& warp : warps_) {
    bool said = false;
    each_fragment(warp, [&](Fragment& fragment) {
      if (said || !fragment.waiting || fragment.missing == 0) return;
      const LaneMask missing = fragment.missing & ~fragment.path().lanes;
      if (missing == 0) return;
      said = true;
      const auto lane = static_cast<uint32_t>(__builtin_ctz(missing));
      Finding finding;
      finding.kind = FindingKind::kDivergence;
      finding.object = machine_->name(fragment.object);
      finding.sites = {machine_->site_of_thread(fragment.thread, fragment.path().lanes, "wait", SiteId{fragment.path().pc})};
      if ((warp.exited >> lane & 1) != 0) {
        finding.message = "the mask names lane " + std::to_string(lane) + ", which has exited";
        finding.sites.push_back({"lane " + std::to_string(lane), "exit", warp.ended[lane], kNoAgent, 0});
      } else {
        finding.message = "the mask names lane " + std::to_string(lane) + ", which waits elsewhere";
        each_fragment(warp, [&](Fragment& other) {
          if ((other.path().lanes >> lane & 1) == 0) return;
          finding.sites.push_back(machine_->site_of_thread(other.thread, other.path().lanes, "wait", SiteId{other.path().pc}));
        });
      }
      machine_->report(std::move(finding));
    });
  }
}

}  // namespace warpcheck::ptx
