#include "model/gpu_machine.h"

#include <algorithm>
#include <bit>

#include "model/check.h"
#include "model/dependence.h"
#include "model/gpu_machine_impl.h"

namespace warpcheck {

namespace {

uint32_t count_components(const LaunchModel& model) {
  uint32_t count = 0;
  for (const ThreadSpec& spec : model.threads) count += spec.lanes;
  return count;
}

LaneMask all_lanes(uint32_t count) { return count >= 32 ? ~LaneMask{0} : (LaneMask{1} << count) - 1; }

}  // namespace

GpuMachine::Impl::Impl(GpuMachine& self_machine, const LaunchModel& launch, std::unique_ptr<ThreadBodies> thread_bodies,
                       size_t sites)
    : self(self_machine),
      model(launch),
      bodies(std::move(thread_bodies)),
      scopes{std::max(1U, launch.blocks_per_cluster)},
      thread_components(count_components(launch)),
      granules(launch.regions.size()),
      reached(sites, false),
      pool(journal, count_components(launch)),
      memory(launch, journal),
      alive(journal),
      group_waits(journal),
      map_fences(journal),
      remote_accesses(journal),
      races(journal),
      held(journal),
      load_effects(journal) {
  for (size_t i = 0; i < launch.regions.size(); ++i) {
    shadows.emplace_back(journal);
    live_barriers.emplace_back(journal);
  }
  for (uint32_t i = 0; i < thread_components; ++i) {
    threads.emplace_back(journal);
    lanes.emplace_back(journal);
  }
}

AgentId GpuMachine::Impl::intern(const AgentKey& key) {
  const auto [at, is_new] = agent_ids.try_emplace(key, AgentId{static_cast<uint32_t>(agents.size())});
  if (is_new) {
    agents.emplace_back();
    agents.back().key = key;
  }
  return at->second;
}

ObjectId GpuMachine::Impl::intern_object(ObjectSort sort, uint64_t a, uint64_t b) {
  const uint64_t key = (static_cast<uint64_t>(sort) << 60U) | (a << 40U) | b;
  const auto [at, is_new] = object_ids.try_emplace(key, ObjectId{static_cast<uint32_t>(objects.size())});
  if (is_new) {
    Object& o = objects.emplace_back(journal);
    o.sort = sort;
    o.region = RegionId{static_cast<uint32_t>(a)};
    o.offset = b;
    o.id = static_cast<uint32_t>(b);
    reset_object(o);
  }
  return at->second;
}

// Named, block and cluster barriers are live from the start and await the threads that are alive.
void GpuMachine::Impl::reset_object(Object& o) {
  o.state = ObjectState{};
  o.ever_live = false;
  o.own_phase_waits = false;
  o.phases.forget();
  o.words.forget();
  o.observations.forget();
  o.parity_waits.forget();
  o.arrived.forget();
  o.steps.forget();
  o.arrivals_control = kNoBundle;
  o.pending.forget();
  o.dead_uses.forget();
  o.allocations.forget();
  o.freed = kNoBundle;
  o.saved = 0;
  const auto awaits = [&](auto&& belongs) {
    o.state.live = o.ever_live = true;
    for (const ThreadSpec& spec : model.threads) {
      if (belongs(spec)) o.state.expected += static_cast<int32_t>(spec.lanes);
    }
  };
  switch (o.sort) {
    case ObjectSort::kNamedBarrier:
      awaits([&](const ThreadSpec& spec) { return spec.block == index(o.region); });
      break;
    case ObjectSort::kClusterBarrier:
      awaits([&](const ThreadSpec& spec) { return spec.block / scopes.blocks_per_cluster == o.id; });
      break;
    case ObjectSort::kWarpBarrier:
      o.state.live = o.ever_live = true;
      o.state.expected = 32;
      break;
    case ObjectSort::kTensorMemory:
    case ObjectSort::kWarpgroup:
      o.state.live = o.ever_live = true;
      break;
    case ObjectSort::kGranule:
    case ObjectSort::kMbarrier:
    case ObjectSort::kGroup:
      break;
  }
}

void GpuMachine::Impl::reset() {
  journal.start(rewindable && !recording && bodies->can_rewind());
  run = {};
  pool.reset();
  const bool tensor = std::any_of(model.regions.begin(), model.regions.end(), [](const RegionSpec& region) { return region.space == Space::kTensor; });
  if (tensor) pool.raise_level(ClockLevel::kTensorCore);  // not in the middle: which rows a step reaches must not depend on the order
  memory.reset();
  for (Shadow& shadow : shadows) shadow.reset();
  for (Agent& known : agents) {
    known.exists = false;
    known.transition = {};
    known.saved = 0;
  }
  for (Object& o : objects) reset_object(o);
  for (Lane& each : lanes) {
    each.issued = 0;
    for (Lane::Groups& groups : each.groups) {
      groups.grouped.forget();
      groups.commits.forget();
    }
    each.queues.fill(0);
  }
  for (auto& live : live_barriers) live.forget();
  run.components = thread_components;
  alive.forget();
  changed.clear();
  born.clear();
  to_resume.clear();
  snapshot_width = pool.width();
  group_waits.forget();
  map_fences.forget();
  remote_accesses.forget();
  races.forget();
  load_effects.forget();
  load_effects.push_back(0);
  held.forget();
  tensor_queues.clear();
  unallocated_uses.clear();
  found.clear();
  cache_valid = false;
  recorded.clear();
  block_end.assign(model.blocks, kNoBundle);
  for (Thread& t : threads) {
    t.exists = false;
    t.relaxed_reads.forget();
    t.own_phases.forget();
    t.clocks.forget();
    t.fence.forget();
  }

  for (const MbarrierSpec& spec : model.mbarriers) {
    Object& o = object(self.mbarrier(spec.region, spec.offset));
    o.state.live = o.ever_live = true;
    o.state.pending = o.state.expected = static_cast<int32_t>(spec.arrivals);
    live_barriers[index(spec.region)].push_back({spec.offset, self.mbarrier(spec.region, spec.offset)});
  }
  bodies->reset(self);
  uint32_t base = 0;
  for (uint32_t s = 0; s < model.threads.size(); ++s) {
    const ThreadSpec& spec = model.threads[s];
    if (!runs(spec.block)) {
      base += spec.lanes;
      continue;
    }
    Thread& t = threads[base];
    t.id = ThreadId{base};
    t.block = spec.block;
    t.base = base;
    t.spec = s;
    t.lanes = all_lanes(spec.lanes);
    t.clocks.start(pool, base, t.lanes);
    t.clocks.advance();  // its start
    t.exists = true;
    t.ended = t.posted = t.fenced = false;
    t.event = 0;
    t.agent = intern({base, 0, spec.block});
    begin_agent(t.agent, true, base);
    base += spec.lanes;
  }
  // Threads run in order; those that others split off run right after.
  for (base = 0; const ThreadSpec& spec : model.threads) {
    if (runs(spec.block)) run_thread(ThreadId{base});
    base += spec.lanes;
  }
}

bool GpuMachine::Impl::rewind(size_t count) {
  if (!journal.rewind(count)) return false;
  found.resize(run.found);
  changed.clear();
  born.clear();
  cache_valid = false;
  return true;
}

void GpuMachine::Impl::begin_agent(AgentId id, bool is_thread, uint32_t at) {
  Agent& made = agent(id);
  CHECK(!made.exists);
  made.exists = true;
  made.is_thread = is_thread;
  made.index = at;
  made.events = 0;
  made.transition = {};
  made.transition.status = Transition::Status::kFinished;
  alive.push_back(id);
  born.push_back(id);
  mark_changed(id);
}

void GpuMachine::Impl::mark_changed(AgentId id) {
  Agent& marked = agent(id);
  if (marked.changed == journal.stamp()) return;
  marked.changed = journal.stamp();
  changed.push_back(id);
}

// An operation on a word that does not wait need not be known there.
bool GpuMachine::Impl::listed(const Operation& op) const {
  if (op.object == kNoObject) return false;
  return op.predicate != nullptr || objects[index(op.object)].sort != ObjectSort::kGranule;
}

void GpuMachine::Impl::set_pending(AgentId id, const VisibleOp& op) {
  Agent& poster = agent(id);
  poster.visible = op;
  poster.transition.op = op.op;
  poster.transition.status = Transition::Status::kBlocked;
  if (listed(op.op)) objects[index(op.op.object)].pending.push_back(id);
  mark_changed(id);
  refresh(id);
}

void GpuMachine::Impl::clear_pending(AgentId id) {
  Agent& cleared = agent(id);
  if (listed(cleared.transition.op)) {
    objects[index(cleared.transition.op.object)].pending.erase_if([&](AgentId other) { return other == id; });
  }
  cleared.transition = {};
  cleared.transition.status = Transition::Status::kFinished;
  mark_changed(id);
}

bool GpuMachine::Impl::group_ready(const Operation& op) const {
  const Object& o = objects[index(op.object)];
  const Lane::Groups& groups = lanes[o.offset].groups[index(o.region)];
  for (uint64_t i = 0; i < op.operand; ++i) {
    const AsyncOp& waited = ops[groups.grouped[i]];
    if (!(op.kind == OpKind::kWaitRead ? waited.read_done : waited.done)) return false;
  }
  return true;
}

ObjectState GpuMachine::Impl::state_of(const Operation& op) const {
  if (op.object == kNoObject) return {};
  const Object& o = objects[index(op.object)];
  ObjectState state = o.state;
  if (o.sort == ObjectSort::kGranule) state.word = memory.granule(o.region, o.offset);
  return state;
}

void GpuMachine::Impl::refresh(AgentId id) {
  const Operation& op = agents[index(id)].transition.op;
  bool enabled = true;
  if (op.kind == OpKind::kWaitGroup || op.kind == OpKind::kWaitRead) {
    enabled = group_ready(op);
  } else if (may_block(op)) {
    enabled = evaluate(op, state_of(op)).enabled;
  }
  const auto status = enabled ? Transition::Status::kEnabled : Transition::Status::kBlocked;
  if (status == agents[index(id)].transition.status) return;
  agent(id).transition.status = status;
  mark_changed(id);
}

void GpuMachine::Impl::refresh_object(ObjectId id) {
  if (id == kNoObject) return;
  for (const AgentId waiting : objects[index(id)].pending) {
    if (may_block(agents[index(waiting)].transition.op)) refresh(waiting);
  }
}

void GpuMachine::Impl::run_thread(ThreadId id) {
  thread(id).posted = false;
  bodies->resume(id);
  CHECK(thread(id).posted || thread(id).ended || !thread(id).exists);
  while (!to_resume.empty()) {
    const ThreadId next = to_resume.back();
    to_resume.pop_back();
    run_thread(next);
  }
}

const Event& GpuMachine::Impl::step(AgentId id, uint16_t choice) {
  journal.mark();
  changed.clear();
  born.clear();
  Agent& taker = agent(id);
  CHECK(taker.transition.status == Transition::Status::kEnabled);
  VisibleOp visible = taker.visible;
  visible.op = taker.transition.op;
  const Operation& op = visible.op;
  const ObjectState before = state_of(op);
  const Outcome outcome = evaluate(op, before);
  CHECK(outcome.enabled);
  cache_valid = false;
  ++now().steps;

  event = predicted(id, op, before, outcome);
  event.choice = choice;
  event.ordinal = taker.events++;
  event.site = visible.site;
  reach(visible.site);
  clear_pending(id);
  if (op.object != kNoObject && objects[index(op.object)].sort != ObjectSort::kGranule) object(op.object).state = outcome.after;

  if (taker.is_thread) {
    const ThreadId tid{taker.index};
    Thread& t = thread(tid);
    t.clocks.advance();
    t.event = 0;
    t.last = {outcome.result, outcome.phase, outcome.effect, 0};
    t.last_choice = choice;
    perform(t, visible, outcome);
    if (op.kind == OpKind::kArrive && op.splits && outcome.result < op.operand) {
      VisibleOp rest = visible;  // the lanes that have yet to arrive
      for (uint64_t i = 0; i < outcome.result; ++i) rest.lanes &= rest.lanes - 1;
      rest.op.operand -= outcome.result;
      rest.op.covers = 0;
      set_pending(id, rest);
      t.posted = true;
    } else {
      run_thread(tid);
    }
  } else {
    step_async(operation(taker.index), outcome);
  }
  refresh_object(op.object);
  mark_changed(id);
  return event;
}

// --- the seam ---------------------------------------------------------------------------------------------------------

GpuMachine::GpuMachine(const LaunchModel& model, std::unique_ptr<ThreadBodies> bodies, size_t sites)
    : impl_(std::make_unique<Impl>(*this, model, std::move(bodies), sites)) {}
GpuMachine::~GpuMachine() = default;

void GpuMachine::reset() { impl_->reset(); }
std::span<const AgentId> GpuMachine::agents() const { return impl_->alive; }
const Transition& GpuMachine::pending(AgentId agent) const {
  static const Transition kAbsent{};
  if (index(agent) >= impl_->agents.size() || !impl_->agents[index(agent)].exists) return kAbsent;
  return impl_->agents[index(agent)].transition;
}
const Event& GpuMachine::step(AgentId agent, uint16_t choice) { return impl_->step(agent, choice); }
std::span<const AgentId> GpuMachine::changed() const { return impl_->changed; }
std::span<const AgentId> GpuMachine::born() const { return impl_->born; }
void GpuMachine::finish() {
  impl_->now();  // after the last mark: going back undoes it
  impl_->finish();
}
bool GpuMachine::rewind(size_t steps) { return impl_->rewind(steps); }
Journal& GpuMachine::journal() { return impl_->journal; }
void GpuMachine::forbid_rewind() {
  impl_->rewindable = false;
  impl_->journal.stop();
}
void GpuMachine::confine(const std::vector<bool>& clusters) {
  CHECK(clusters.size() == impl_->model.blocks / impl_->scopes.blocks_per_cluster);
  impl_->confined_to = clusters;
  impl_->footprints.parts.resize(clusters.size());
}
const Footprints& GpuMachine::footprints() const { return impl_->footprints; }
bool GpuMachine::confined() const { return !impl_->confined_to.empty(); }
void GpuMachine::note_unmet(Range range) {
  Footprint::note(impl_->footprints.unmet, index(range.region), range.offset, range.offset + range.bytes);
}
void GpuMachine::set_checking(bool on) { impl_->checking = on; }
void GpuMachine::set_recording(bool on) { impl_->recording = on; }
const std::vector<RecordedEvent>& GpuMachine::recording() const { return impl_->recorded; }
AgentKey GpuMachine::key(AgentId agent) const { return impl_->agents[index(agent)].key; }
AgentId GpuMachine::agent(const AgentKey& key) { return impl_->intern(key); }
SiteId GpuMachine::site_of(AgentId agent) const { return impl_->agents[index(agent)].visible.site; }
const std::vector<bool>& GpuMachine::reached() const { return impl_->reached; }

// --- objects and visible operations -----------------------------------------------------------------------------------

ObjectId GpuMachine::word_object(Range word) {
  const uint64_t number = word.offset / 16;
  if (index(word.region) >= impl_->granules.size() || number > impl_->model.regions[index(word.region)].bytes / 16) {
    return impl_->intern_object(ObjectSort::kGranule, index(word.region), 16 * number);
  }
  std::vector<ObjectId>& known = impl_->granules[index(word.region)];
  if (number >= known.size()) known.resize(number + 1, kNoObject);
  if (known[number] == kNoObject) {
    known[number] = impl_->intern_object(ObjectSort::kGranule, index(word.region), 16 * number);
  }
  return known[number];
}
Operation GpuMachine::word_op(OpKind kind, Range word) {
  Operation op;
  op.kind = kind;
  op.object = word_object(word);
  op.begin = static_cast<uint8_t>(word.offset & 15U);
  op.size = static_cast<uint8_t>(word.bytes);
  CHECK(op.begin + op.size <= 16 && op.size <= 8);
  return op;
}
ObjectId GpuMachine::mbarrier(RegionId region, uint64_t offset) {
  return impl_->intern_object(ObjectSort::kMbarrier, index(region), offset);
}
ObjectId GpuMachine::named_barrier(uint32_t block, uint32_t id) {
  return impl_->intern_object(ObjectSort::kNamedBarrier, block, id);
}
ObjectId GpuMachine::cluster_barrier(uint32_t cluster) {
  return impl_->intern_object(ObjectSort::kClusterBarrier, 0, cluster);
}
ObjectId GpuMachine::warp_barrier(ThreadId thread) {
  return impl_->intern_object(ObjectSort::kWarpBarrier, 0, impl_->threads[index(thread)].base);
}

Operation GpuMachine::group_wait_op(ThreadId thread, uint32_t lane, uint32_t n, bool read, GroupKind kind) {
  const uint32_t component = impl_->threads[index(thread)].base + lane;
  const Lane::Groups& state = impl_->lanes[component].of(kind);
  Operation op;
  op.kind = read ? OpKind::kWaitRead : OpKind::kWaitGroup;
  op.object = impl_->group_object(component, kind);
  const size_t groups = state.commits.size();
  op.operand = groups > n ? state.commits[groups - n - 1] : 0;
  return op;
}

uint32_t GpuMachine::own_next_phase(ThreadId thread, ObjectId barrier) {
  JournaledVector<OwnPhase>& own = impl_->thread(thread).own_phases;
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].barrier == barrier) return own.edit(i).next++;
  }
  own.push_back({barrier, 1, false});
  return 0;
}

const ObjectState& GpuMachine::state(ObjectId object) const { return impl_->objects[index(object)].state; }

void GpuMachine::post(ThreadId thread, const VisibleOp& op) {
  Thread& t = impl_->thread(thread);
  CHECK(t.exists && !t.posted);
  t.posted = true;
  VisibleOp full = op;
  full.lanes = op.lanes == 0 ? t.lanes : op.lanes & t.lanes;
  impl_->keep_inside(t, full);
  if (op.op.kind == OpKind::kWaitParity) full.op.waiter_bit = impl_->waiter_bit(t);
  if (op.op.kind == OpKind::kArrive || op.op.kind == OpKind::kExpectTx || op.op.kind == OpKind::kWaitParity) {
    const Object& barrier = impl_->objects[index(op.op.object)];
    full.op.covers = impl_->coverage(barrier, kNoBundle, &t.clocks, full.lanes);
    full.op.covers_phase = barrier.state.phase;
  }
  if (op.op.kind == OpKind::kUpdate) full.op.releases = op.order == Order::kRelease || op.order == Order::kAcqRel;
  impl_->set_pending(t.agent, full);
}

void GpuMachine::finish(ThreadId thread) {
  Thread& t = impl_->thread(thread);
  CHECK(t.exists && !t.posted);
  BundleId& end = impl_->block_end[t.block];
  if (end == kNoBundle) {
    impl_->journal.save(end);
    end = impl_->pool.allocate();
  }
  t.clocks.publish_row(impl_->pool, t.lanes, kControl, end);
  t.ended = true;
  impl_->mark_changed(t.agent);
}

const Answer& GpuMachine::last_outcome(ThreadId thread) const { return impl_->threads[index(thread)].last; }
uint16_t GpuMachine::last_choice(ThreadId thread) const { return impl_->threads[index(thread)].last_choice; }

// --- lanes that part and meet -----------------------------------------------------------------------------------------

ThreadId GpuMachine::split(ThreadId thread, LaneMask leave) {
  Impl& m = *impl_;
  Thread& t = m.thread(thread);
  CHECK(leave != 0 && (leave & ~t.lanes) == 0 && std::countr_zero(leave) != std::countr_zero(t.lanes));
  const ThreadId id{t.base + static_cast<uint32_t>(std::countr_zero(leave))};
  Thread& part = m.thread(id);
  part.id = id;
  part.block = t.block;
  part.base = t.base;
  part.spec = t.spec;
  part.lanes = leave;
  part.exists = true;
  part.ended = part.posted = false;
  part.event = 0;
  part.own_phases.assign(t.own_phases);
  part.last = t.last;
  part.last_choice = t.last_choice;
  t.clocks.split(m.pool, leave, part.clocks);
  part.fenced = t.fenced;
  part.fence_scope = t.fence_scope;
  if (t.fenced) t.fence.split(m.pool, leave, part.fence);
  part.relaxed_reads.clear();
  for (const RelaxedRead& read : t.relaxed_reads) {
    if ((read.lanes & leave) == 0) continue;
    RelaxedRead copy = read;
    copy.lanes &= leave;
    copy.release.bundle = m.pool.copy(read.release.bundle);
    part.relaxed_reads.push_back(copy);
  }
  t.lanes &= ~leave;
  part.agent = m.intern({index(id), 0, t.block});
  // An agent that was born and merged away before is born again: its events go on counting.
  if (m.agents[index(part.agent)].exists) {
    m.mark_changed(part.agent);
    m.born.push_back(part.agent);
  } else {
    m.begin_agent(part.agent, true, index(id));
  }
  m.to_resume.push_back(id);
  return id;
}

void GpuMachine::merge(ThreadId into, ThreadId from) {
  Impl& m = *impl_;
  Thread& t = m.thread(into);
  Thread& part = m.thread(from);
  CHECK(t.exists && part.exists && into != from && t.base == part.base);
  m.clear_pending(part.agent);
  t.lanes |= part.lanes;
  t.clocks.merge(m.pool, part.clocks);
  if (t.fenced && part.fenced) {
    t.fence.merge(m.pool, part.fence);
  } else if (part.fenced) {
    t.fence.assign(m.pool, part.fence);
    t.fenced = true;
    t.fence_scope = part.fence_scope;
  }
  part.fenced = false;
  t.relaxed_reads.append(part.relaxed_reads);
  part.relaxed_reads.clear();
  const auto find = [](const JournaledVector<OwnPhase>& own, ObjectId barrier) {
    return static_cast<size_t>(std::find_if(own.begin(), own.end(),
                                            [&](const OwnPhase& entry) { return entry.barrier == barrier; }) - own.begin());
  };
  for (const OwnPhase& theirs : part.own_phases) {
    const size_t at = find(t.own_phases, theirs.barrier);
    if (at == t.own_phases.size()) {
      t.own_phases.push_back({theirs.barrier, 0, theirs.next != 0 || theirs.mismatch});
    } else {
      OwnPhase& mine = t.own_phases.edit(at);
      mine.mismatch = mine.mismatch || theirs.mismatch || mine.next != theirs.next;
      mine.next = std::min(mine.next, theirs.next);
    }
  }
  for (size_t i = 0; i < t.own_phases.size(); ++i) {
    const OwnPhase& mine = t.own_phases[i];
    const bool known = find(part.own_phases, mine.barrier) != part.own_phases.size();
    if (!known && mine.next != 0) t.own_phases.edit(i) = {mine.barrier, 0, true};
  }
  part.exists = false;
  // A wait that `into` has posted is now one of all its lanes.
  if (t.posted) m.agent(t.agent).visible.lanes |= part.lanes;
  part.posted = true;  // resume of `from`, if it is running, need not post
}

LaneMask GpuMachine::lanes(ThreadId thread) const { return impl_->threads[index(thread)].lanes; }
uint32_t GpuMachine::block_of(ThreadId thread) const { return impl_->threads[index(thread)].block; }
uint32_t GpuMachine::warp_base(ThreadId thread) const { return impl_->threads[index(thread)].base; }
AgentId GpuMachine::agent_of(ThreadId thread) const { return impl_->threads[index(thread)].agent; }

// --- the thread API, forwarded ----------------------------------------------------------------------------------------

void GpuMachine::begin_event(ThreadId thread, SiteId site, bool collective) {
  impl_->begin_event(impl_->thread(thread), site);
  impl_->thread(thread).collective = collective;
}
ValueTag GpuMachine::load(ThreadId thread, uint32_t lane, Range from, void* to, uint32_t followed) {
  return impl_->load(impl_->thread(thread), lane, from, to, followed);
}
uint32_t GpuMachine::follow_load() {
  impl_->load_effects.push_back(0);
  return static_cast<uint32_t>(impl_->load_effects.size() - 1);
}
void GpuMachine::load_takes_effect(uint32_t followed, LaneMask lanes) { impl_->load_takes_effect(followed, lanes); }
void GpuMachine::store(ThreadId thread, uint32_t lane, Range to, const void* bytes, ValueTag tag) {
  impl_->store(impl_->thread(thread), lane, to, bytes, tag);
}
void GpuMachine::fence(ThreadId thread, FenceKind kind, Scope scope, SiteId site, Order order) {
  impl_->fence(impl_->thread(thread), kind, scope, site, order);
}
void GpuMachine::issue(ThreadId thread, uint32_t lane, const AsyncCopy& copy) {
  impl_->issue(impl_->thread(thread), lane, copy);
}
void GpuMachine::fence_tensor_map(ThreadId thread, uint32_t lane, Range map, SiteId site) {
  impl_->fence_tensor_map(impl_->thread(thread), lane, map, site);
}
void GpuMachine::commit_group(ThreadId thread, uint32_t lane, GroupKind kind) {
  Lane::Groups& state = impl_->lane(impl_->threads[index(thread)].base + lane).of(kind);
  state.commits.push_back(static_cast<uint32_t>(state.grouped.size()));
}

}  // namespace warpcheck
