// The inside of a GpuMachine: who exists, which objects there are, and what happened in this run so far. One struct whose
// parts are defined in files by subject. What a run may change is journaled (journal.h): `thread()`, `object()`, `agent()`
// and `now()` hand out structs that are saved; the lists of structs are read directly.
//   gpu_machine.cpp    agents, transitions, the step
//   plain_access.cpp   loads, stores, fences
//   race_check.cpp     shadow memory, labels and causes of races
//   visible_ops.cpp    what atomics, barriers and group waits do to clocks and memory
//   async_ops.cpp      asynchronous copies: issue, moments, groups
//   tensor_ops.cpp     the tensor core: its operations, tensor memory
//   end_of_run.cpp     deadlocks, unfinished operations, lifetimes
//   names.cpp          what people read
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/clocks.h"
#include "model/gpu_machine.h"
#include "model/journal.h"
#include "model/memory.h"
#include "model/release_list.h"
#include "model/shadow.h"
#include "model/thread_clocks.h"

namespace warpcheck {

struct AgentKeyHash {
  size_t operator()(const AgentKey& key) const {
    return (size_t{key.thread} * 0x9e3779b97f4a7c15ULL) ^ (size_t{key.ordinal} << 20U) ^ key.block;
  }
};

// A stamp in the control order.
struct Observation {
  uint32_t component = 0, tick = 0;
  LaneMask lanes = 1;
  uint64_t bit = 0;        // parity waits: the waiter's bit
  bool own_phase = false;  // under the discipline of C++ and Pallas waits
  SiteId site = kNoSite;
  AgentId agent = kNoAgent;
};

// A step of an mbarrier's running phase, for reports.
struct PhaseStep {
  AgentId agent = kNoAgent;
  LaneMask lanes = 1;
  SiteId site = kNoSite;
  const char* role = "";
};

struct Arrived {
  uint32_t base = 0;  // of the warp
  LaneMask lanes = 0;
};

struct DeadUse {
  SiteId site = kNoSite;
  AgentId agent = kNoAgent;
};

struct LiveBarrier {
  uint64_t offset = 0;
  ObjectId id = kNoObject;
};

struct WordCell {
  WordCell(Journal& journal, uint8_t first, uint8_t bytes) : begin(first), size(bytes), released(journal) {}
  uint8_t begin = 0, size = 0;
  ReleaseList released;
};

enum class ObjectSort : uint8_t { kGranule, kMbarrier, kNamedBarrier, kClusterBarrier, kWarpBarrier, kGroup, kTensorMemory,
                                  kWarpgroup };

struct TensorAllocation {
  uint32_t column = 0, columns = 0;
  SiteId site = kNoSite;
  AgentId agent = kNoAgent;
  LaneMask lanes = 0;
};

struct Object {
  explicit Object(Journal& journal)
      : phases(journal), observations(journal), parity_waits(journal), arrived(journal), steps(journal), words(journal),
        pending(journal), dead_uses(journal), allocations(journal) {}

  uint64_t saved = 0;
  ObjectSort sort = ObjectSort::kGranule;
  RegionId region = kNoRegion;  // granules, mbarriers
  uint64_t offset = 0;          // likewise; else block, cluster, warp base or lane component
  uint32_t id = 0;              // named barriers
  ObjectState state;
  bool ever_live = false;
  bool own_phase_waits = false;
  JournaledVector<ReleaseList> phases;  // [p]: what phases up to p released; phases[state.phase] is running
  JournaledVector<Observation> observations;   // of the last completed phase
  JournaledVector<Observation> parity_waits;   // made in the running phase
  JournaledVector<Arrived> arrived;  // named barriers: who arrived in the running phase
  JournaledVector<PhaseStep> steps;            // mbarriers: of the running phase
  BundleId arrivals_control = kNoBundle;   // row kControl: of the running phase's steps
  JournaledVector<WordCell> words;
  JournaledVector<AgentId> pending;        // agents whose pending transition is on this object; of words: those that wait
  JournaledVector<DeadUse> dead_uses;  // uses while it was not live
  JournaledVector<TensorAllocation> allocations;   // tensor memory: those in use
  BundleId freed = kNoBundle;                      // tensor memory: what those who freed columns were ordered after
};

struct RelaxedRead {
  LaneMask lanes = 0;
  Scope scope = Scope::kBlock;
  Release release;  // bundle owned
};

struct OwnPhase {
  ObjectId barrier = kNoObject;
  uint32_t next = 0;
  bool mismatch = false;
};

struct Thread {
  explicit Thread(Journal& journal) : clocks(journal), fence(journal), relaxed_reads(journal), own_phases(journal) {}

  uint64_t saved = 0;
  bool exists = false, ended = false, posted = false;
  ThreadId id{};
  AgentId agent = kNoAgent;
  uint32_t block = 0, base = 0, spec = 0;
  LaneMask lanes = 0;
  ThreadClocks clocks;
  bool fenced = false;
  Scope fence_scope = Scope::kBlock;
  ThreadClocks fence;  // clocks at the last release fence
  JournaledVector<RelaxedRead> relaxed_reads;
  JournaledVector<OwnPhase> own_phases;
  Answer last;
  uint16_t last_choice = 0;
  SiteId site = kNoSite;       // of the instruction in progress
  bool collective = false;     // ... which the warp runs as one
  uint32_t event = 0;          // its recorded event + 1, while recording; 0: none yet
  Range first_access;          // bytes that the event's text names
  LaneMask event_lanes = 0;    // lanes whose accesses it tells
};

// Per lane of the launch: its asynchronous operations and groups.
struct Lane {
  struct Groups {
    explicit Groups(Journal& journal) : grouped(journal), commits(journal) {}
    JournaledVector<uint32_t> grouped;  // indices of operations in groups, in order of issue
    JournaledVector<uint32_t> commits;  // grouped.size() at each commit
  };
  explicit Lane(Journal& journal) : groups{Groups(journal), Groups(journal)} {}

  uint64_t saved = 0;
  uint32_t issued = 0;              // operations issued
  std::array<Groups, 2> groups;     // by GroupKind
  std::array<uint32_t, kTensorQueues> queues{};  // index into tensor_queues + 1; 0: none yet
  Groups& of(GroupKind kind) { return groups[static_cast<size_t>(kind)]; }
  const Groups& of(GroupKind kind) const { return groups[static_cast<size_t>(kind)]; }
};

// A fence that lets copies read a tensor map: what was ordered before it, and where it stands itself.
struct TensorMapFence {
  Range map;
  uint32_t component = 0, tick = 0;
  BundleId bundle = kNoBundle;
};

// Operations of the tensor core that complete in order: one clock component, a tick each.
struct TensorQueueState {
  uint32_t owner = 0, component = 0;
  TensorQueue queue = TensorQueue::kMatrix;
  uint32_t issued = 0;
  uint32_t reads_shared = 0;   // number of the last one that reads shared memory; 0: none does
  SiteId site = kNoSite;       // of that one
  AgentId agent = kNoAgent;
  Range read;                  // some of it
  std::vector<uint32_t> used;  // loads whose results were used before a wait, beyond a prefix
  uint32_t prefix = 0;         // all up to here were
};

// A use of columns that nothing had allocated when it was made.
struct UnallocatedUse {
  Range range;
  uint32_t component = 0, tick = 0;
  SiteId site = kNoSite;
  AgentId agent = kNoAgent;
  LaneMask lanes = 0;
};

struct AsyncState {
  uint64_t saved = 0;
  AgentId agent = kNoAgent;
  uint32_t component = 0;
  BundleId bundle = kNoBundle;
  uint32_t snapshot = 0;           // control at issue
  uint32_t issuer = 0;             // component of the issuing lane
  uint32_t issuer_thread = 0;      // ThreadId
  uint32_t issuer_block = 0;
  uint32_t issue_tick = 0;
  uint32_t group_number = 0;       // from 1
  uint32_t covers = 0, covers_tick = 0;  // a commit: component and tick of what it stands for; 0: nothing
  uint32_t stage = 0;              // --plain-steps: which of its moments is next
  bool read_done = false, done = false;
  uint32_t issue_event = 0;
};

// Not journaled: `copy` does not change after the issue; bytes are read anew when its steps are.
struct AsyncOp : AsyncState {
  AsyncCopy copy;
  std::vector<uint8_t> bytes, tags;  // what it has read
};

struct Agent {
  uint64_t saved = 0;
  AgentKey key;
  bool exists = false;
  bool is_thread = true;
  uint32_t index = 0;   // component of a thread, number of an operation
  uint32_t events = 0;
  const char* noun = "copy";  // what an operation is called
  uint64_t changed = 0;  // stamp of the step that last changed its pending transition
  Transition transition;
  VisibleOp visible;
};

struct GroupWait {
  uint32_t component = 0, tick = 0;  // of the waiting lane
  uint32_t thread = 0;
  uint32_t snapshot = 0;
};

// A race as met; written out as a Finding when somebody asks.
struct RaceSide {
  AgentId agent = kNoAgent;
  LaneMask lanes = 0;
  SiteId site = kNoSite;
  AccessMode mode = AccessMode::kRead;
  bool async = false, strong = false, tensor = false;
  uint32_t step = 0;
};

struct RawRace {
  std::array<RaceSide, 2> sides;
  Cause cause = Cause::kNone;
  bool strict = false, after_race = false;
  RegionId region = kNoRegion;
  uint32_t variable = 0;
  uint64_t begin = 0, end = 0;
};

// A race with a load whose value has not taken effect (yet).
struct HeldRace {
  uint32_t load = 0;
  LaneMask lanes = 0;
  RawRace race;
};

struct RemoteAccess {
  uint32_t owner = 0;  // block
  uint32_t component = 0, tick = 0;
  SiteId site = kNoSite;
  AgentId agent = kNoAgent;
  LaneMask lanes = 0;
  Range range;
  bool write = false;
};

// Numbers of a run.
struct RunState {
  uint64_t saved = 0;
  uint32_t ops_used = 0;
  uint32_t components = 0;
  uint32_t snapshots_used = 0;
  uint32_t found = 0;  // how many findings, but for races
  uint32_t steps = 0;
  bool race_seen = false;
};

struct GpuMachine::Impl {
  Impl(GpuMachine& self_machine, const LaunchModel& launch, std::unique_ptr<ThreadBodies> thread_bodies, size_t sites);

  GpuMachine& self;
  Journal journal;
  const LaunchModel& model;
  std::unique_ptr<ThreadBodies> bodies;
  ScopeMap scopes;
  uint32_t thread_components = 0;

  // Interned over all runs.
  std::deque<Agent> agents;
  std::unordered_map<AgentKey, AgentId, AgentKeyHash> agent_ids;
  std::deque<Object> objects;
  std::unordered_map<uint64_t, ObjectId> object_ids;
  std::vector<std::vector<ObjectId>> granules;  // by region and number
  std::vector<bool> reached;
  bool ever_raced = false;
  std::vector<bool> confined_to;  // by cluster; empty: all run, and no footprints are kept
  Footprints footprints;

  // This run.
  BundlePool pool;
  Memory memory;
  std::vector<Shadow> shadows;
  std::vector<Thread> threads;  // by component of their lowest lane
  std::vector<Lane> lanes;      // by component
  std::deque<AsyncOp> ops;
  RunState run;
  JournaledVector<AgentId> alive;
  std::vector<JournaledVector<LiveBarrier>> live_barriers;  // by region
  JournaledVector<GroupWait> group_waits;
  JournaledVector<TensorMapFence> map_fences;
  JournaledVector<RemoteAccess> remote_accesses;
  std::vector<BundleId> block_end;  // row kControl: of the block's ended threads; saved by hand
  JournaledVector<RawRace> races;
  JournaledVector<HeldRace> held;
  JournaledVector<LaneMask> load_effects;  // by number of a followed load, from 1

  // Not journaled: outputs of the last step; what only grows, by `run`; what only reports need.
  std::vector<AgentId> changed, born;
  std::vector<ThreadId> to_resume;
  std::vector<uint32_t> snapshots;  // run.snapshots_used rows
  uint32_t snapshot_width = 0;
  // The tensor core: a run that uses it does not go back.
  std::vector<TensorQueueState> tensor_queues;
  std::vector<UnallocatedUse> unallocated_uses;
  std::vector<Finding> found;       // everything but races
  mutable std::vector<Finding> findings_cache;
  mutable bool cache_valid = false;
  bool checking = true, recording = false, rewindable = true;
  Event event;
  std::vector<RecordedEvent> recorded;

  // --- gpu_machine.cpp
  void reset();
  bool rewind(size_t count);
  AgentId intern(const AgentKey& key);
  ObjectId intern_object(ObjectSort sort, uint64_t a, uint64_t b);
  void reset_object(Object& object);
  void begin_agent(AgentId id, bool is_thread, uint32_t index);
  void mark_changed(AgentId id);
  void set_pending(AgentId id, const VisibleOp& op);
  void clear_pending(AgentId id);
  bool listed(const Operation& op) const;  // in its object's `pending`
  void refresh(AgentId id);           // enabled or blocked, after its object changed
  void refresh_object(ObjectId id);
  bool group_ready(const Operation& op) const;
  ObjectState state_of(const Operation& op) const;
  const Event& step(AgentId id, uint16_t choice);
  void run_thread(ThreadId id);       // resume, then those that it split off
  Thread& thread(ThreadId id) { return journal.touch(threads[index(id)]); }
  Object& object(ObjectId id) { return journal.touch(objects[index(id)]); }
  Agent& agent(AgentId id) { return journal.touch(agents[index(id)]); }
  Lane& lane(uint32_t component) { return journal.touch(lanes[component]); }
  AsyncOp& operation(uint32_t number) {
    journal.touch(static_cast<AsyncState&>(ops[number]));
    return ops[number];
  }
  RunState& now() { return journal.touch(run); }
  void reach(SiteId site) {
    if (index(site) < reached.size()) reached[index(site)] = true;
  }

  // --- plain_access.cpp
  void begin_event(Thread& t, SiteId site);
  ValueTag load(Thread& t, uint32_t lane, Range from, void* to, uint32_t followed);
  void store(Thread& t, uint32_t lane, Range to, const void* bytes, ValueTag tag);
  void keep_inside(Thread& t, VisibleOp& op);  // a word outside its memory: reported, and nothing happens to it
  bool admit(Thread& t, LaneMask who, Range range, bool write);  // bounds, alignment, barriers, lifetime
  void remote_access(const ClockView& view, const RemoteAccess& access);
  void touch_barriers(Range range, const FindingSite& site);
  void fence(Thread& t, FenceKind kind, Scope scope, SiteId site, Order order);
  void acquire_fence(Thread& t, Scope scope);
  void fence_tensor_map(Thread& t, uint32_t lane, Range map, SiteId site);

  // --- race_check.cpp
  AccessRecord record_of(Thread& t, uint32_t lane, AccessMode mode, Range range);
  AccessRecord record_of(AsyncOp& op, uint32_t tick, AccessMode mode, Range range, bool async);
  void access(const AccessRecord& access, Range range, const ClockView& view, const void* stored);
  void note_footprint(uint32_t block, AccessMode mode, Range range);
  bool runs(uint32_t block) const { return confined_to.empty() || confined_to[block / scopes.blocks_per_cluster]; }
  void race(const AccessRecord& now, const AccessRecord& before, const ClockView& view, bool strict, RegionId region);
  bool map_fenced(const Range& read, const AccessRecord& write, const ClockView& view, ClockKind row) const;
  void add_race(const RawRace& met);
  bool without_effect(const AccessRecord& access) const;
  void load_takes_effect(uint32_t followed, LaneMask lanes);
  Cause cause_of(const AccessRecord& now, const AccessRecord& before, const ClockView& view) const;
  bool in_control(const AccessRecord& access, uint32_t component, uint32_t tick) const;
  bool awaited_by_another(const AccessRecord& operation, const AccessRecord& other) const;
  uint32_t snapshot_of(Thread& t, uint32_t lane);
  uint32_t snapshot_of(BundleId bundle);

  // --- visible_ops.cpp
  void perform(Thread& t, const VisibleOp& op, const Outcome& outcome);
  void perform_word(Thread& t, const VisibleOp& op, LaneMask who, const Outcome& outcome);
  WordCell& word_cell(Object& o, const Operation& op);
  void release_word(Thread& t, const VisibleOp& op, LaneMask who, WordCell& cell);
  void observe(Thread& t, const VisibleOp& op, LaneMask who, const ReleaseList& list);
  void observe_word(Thread& t, const VisibleOp& op, LaneMask who, WordCell& cell);
  void perform_barrier(Thread& t, const VisibleOp& op, LaneMask who, const Outcome& outcome);
  void perform_arrival(Thread& t, const VisibleOp& op, LaneMask who, const Outcome& outcome, Object& o);
  void perform_wait(Thread& t, const VisibleOp& op, LaneMask who, const Outcome& outcome, Object& o);
  void perform_group_wait(Thread& t, const VisibleOp& op);
  void use_barrier(Thread& t, LaneMask who, Object& o, AccessMode mode);
  void init_barrier(Object& o, const Outcome& outcome);
  void complete_phase(ObjectId id, const Outcome& outcome);
  bool in_control(const Object& o, const Observation& seen) const;
  uint64_t coverage(const Object& o, BundleId control, const ThreadClocks* clocks, LaneMask who) const;
  uint64_t waiter_bit(const Thread& t) const;

  // --- async_ops.cpp
  void issue(Thread& t, uint32_t lane, const AsyncCopy& copy);
  Operation completion_of(AsyncOp& op);
  VisibleOp next_moment(AsyncOp& op);
  void step_async(AsyncOp& op, const Outcome& outcome);
  void tick(AsyncOp& op, uint32_t tick);
  void read_source(AsyncOp& op);
  void write_destination(AsyncOp& op);
  void reduce(const AsyncOp& op, const Range& piece, size_t at);
  ObjectId group_object(uint32_t component, GroupKind kind);
  void complete(AsyncOp& op, const Outcome& outcome);
  bool piece_at(const std::vector<Range>& pieces, uint32_t chunk, Range& range, uint64_t& at) const;

  // --- tensor_ops.cpp
  TensorQueueState& tensor_queue(uint32_t owner, TensorQueue queue);
  uint32_t issue_tensor(Thread& t, LaneMask who, uint32_t owner, const TensorOp& op, uint32_t number);
  void access_tensor(Thread& t, LaneMask who, const AccessRecord& shape, const Range& range);
  void wait_tensor(Thread& t, LaneMask who, uint32_t owner, TensorQueue queue, uint32_t number);
  void use_tensor_load(Thread& t, LaneMask who, uint32_t owner, uint32_t number);
  void perform_tensor_memory(Thread& t, const VisibleOp& op, LaneMask who, const Outcome& outcome);
  void allocate_tensor(Thread& t, const VisibleOp& op, LaneMask who, uint32_t column);
  void free_tensor(Thread& t, const VisibleOp& op, LaneMask who);
  void write_columns(Thread& t, LaneMask who, uint32_t column, uint32_t columns);
  void check_tensor_memory();
  RegionId tensor_region(uint32_t block) const;

  // --- end_of_run.cpp
  void finish();
  void report_deadlock();
  void check_operations();
  void check_barriers();
  void check_lifetimes();

  // --- names.cpp
  std::string agent_name(AgentId id) const;
  std::string lanes_text(AgentId id, LaneMask who) const;
  std::string object_name(ObjectId id) const;
  std::string describe(const Operation& op) const;
  std::string waiting_for(AgentId id);
  std::string instruction(SiteId site) const { return bodies->instruction(site); }
  Finding written(const RawRace& race) const;
  void report(FindingKind kind, std::string object, std::string message, std::vector<FindingSite> sites,
              bool strict = false);
  FindingSite site_of(AgentId agent, LaneMask who, std::string role, SiteId site) const;
  uint32_t record_event(AgentId agent, bool visible, SiteId site, std::string text, std::string object);
  void record_lanes(const Thread& t, uint32_t at, LaneMask who);
  void record_access(Thread& t, uint32_t lane, AccessMode mode, Range range);
};

// Bits of `who` from the lowest up.
template <class Function>
void for_lanes(LaneMask who, Function&& apply) {
  for (; who != 0; who &= who - 1) apply(static_cast<uint32_t>(__builtin_ctz(who)));
}

}  // namespace warpcheck
