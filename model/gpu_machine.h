// A Machine for GPU kernels: memory, synchronization objects, clocks and asynchronous operations of one launch, behind
// the seam of machine.h. It does not know how a kernel thread computes: a frontend's ThreadBodies runs each thread to its
// next visible operation and calls the thread API below on the way.
//
// A thread of the model has 1 to 32 lanes, each with a clock component of its own; it is named by the component of its
// lowest lane. When lanes part, `split` makes a thread of those that leave; where they rendezvous, `merge` takes them back.
// Plain accesses, fences, issues and commits act at once; a visible operation is posted and taken when the search picks it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/launch_model.h"
#include "model/machine.h"

namespace warpcheck {

// A thread of the model: the component of its lowest lane, counted through the launch.
enum class ThreadId : uint32_t {};
using LaneMask = uint32_t;  // bit i: lane i of the warp

enum class Scope : uint8_t { kBlock, kCluster, kDevice, kSystem };
enum class Order : uint8_t { kRelaxed, kAcquire, kRelease, kAcqRel };  // seq_cst counts as acq_rel

struct Range {
  RegionId region = kNoRegion;
  uint64_t offset = 0;
  uint32_t bytes = 0;
};

enum class FenceKind : uint8_t {
  kThread,          // membar, fence.acq_rel, fence.sc: release and acquire, of `scope`
  kProxyAsync,      // fence.proxy.async: both spaces
  kProxyAsyncShared,
  kProxyAsyncGlobal,
  kMbarrierInit,    // fence.mbarrier_init.release.cluster
  kTensorBefore,    // before a synchronization: what is known of tensor memory travels with it
  kTensorAfter,     // after one: later tensor-core operations are ordered after what came with it
};

// Queues of tensor-core operations. Those of one queue complete as if in order: whoever observes that one is complete knows
// that of all before it.
enum class TensorQueue : uint8_t {
  kMatrix,     // MMAs, copies and shifts that a lane issued: one commit covers all
  kLoad,       // from tensor memory to registers, of a warp
  kStore,      // from registers to tensor memory, of a warp
  kWarpgroup,  // MMAs that a warpgroup issued together, with accumulators in registers
};
constexpr size_t kTensorQueues = 4;

enum class TensorKind : uint8_t { kNone, kMma, kCopy, kNarrowCopy, kShift, kLoad, kStore, kWarpgroupMma };

// An operation of the tensor core. What it reads and writes lies in tensor memory, or in shared memory, which it reaches
// through the async proxy.
struct TensorOp {
  TensorKind kind = TensorKind::kMma;
  TensorQueue queue = TensorQueue::kMatrix;
  uint64_t accumulator = 0;  // MMAs are pipelined if this is the same: accumulator, shape, type and how many blocks
  uint32_t blocks = 1;       // that work together
  std::vector<Range> reads, writes;
  SiteId site = kNoSite;
};

// The two kinds of groups, each a sequence of its own: those of cp.async and those of bulk copies.
enum class GroupKind : uint8_t { kSmall, kBulk };

// A visible operation with what the model needs beyond what the search sees.
struct VisibleOp {
  Operation op;
  SiteId site = kNoSite;
  Order order = Order::kRelaxed;
  Scope scope = Scope::kBlock;
  LaneMask lanes = 0;         // lanes that take part; 0: all of the thread
  Range word = {};               // kTensorAlloc: four bytes that receive the address of the first column
  bool own_phase = false;     // kWaitPhase: the discipline of C++ and Pallas waits is checked (a missed phase is misuse)
};

// An asynchronous copy. Reads and writes are lists of pieces of equal total length, in order. A piece of no region is what
// a tensor copy finds beyond its tensor: it reads as `fill`, and a write there is dropped.
struct AsyncCopy {
  std::vector<Range> reads, writes;
  bool reads_async = true, writes_async = true;  // through the async proxy
  ObjectId barrier = kNoObject;  // arrives here when complete, or
  int64_t complete_bytes = 0;    // ... completes this many transaction bytes; 0: one arrival that releases the issuer's bundle
  bool grouped = false;          // belongs to the issuing lane's current group
  GroupKind groups = GroupKind::kSmall;
  std::vector<uint8_t> fill;     // bytes of one element beyond the tensor; empty: zeros
  bool fill_opaque = false;
  uint32_t swizzle = 0;          // bits of an offset in shared memory that are xored with those three places above
  Rmw reduce = Rmw::kNone;       // combines with the destination by element, atomically at device scope
  uint8_t element_bytes = 0;     // ... of this size
  Range map;                     // a tensor map in memory, read through a proxy of its own
  bool tracks = false;           // moves nothing: arrives once the lane's earlier cp.asyncs are complete
  uint32_t block = 0;            // destination block (multicast: issue once per destination)
  SiteId site = kNoSite;
  bool tensor_commit = false;    // arrives when all operations in the issuing lane's matrix queue are complete
};

enum class ValueTag : uint8_t { kKnown = 0, kUninitialized = 1, kOpaque = 2 };

// What a thread learns from its visible operation.
struct Answer {
  uint64_t result = 0;
  uint32_t phase = 0;
  Effect effect = Effect::kNothing;
  uint8_t tags = 0;  // of words: what the bytes carried before, ValueTags or-ed together
};

class GpuMachine;
class Journal;

// How threads compute: a frontend's side of a machine. One object a machine.
class ThreadBodies {
 public:
  virtual ~ThreadBodies() = default;
  // A new run begins: forget everything. No thread API may be called yet.
  virtual void reset(GpuMachine& machine) = 0;
  // Runs the thread to its next visible operation (machine.post) or its end (machine.finish). Called first when the run
  // begins, for each initial thread in order, then after each of its visible operations.
  virtual void resume(ThreadId thread) = 0;
  // No agent can step: the frontend's own checks of final memory (machine.bytes, machine.report).
  virtual void end_of_run(GpuMachine& machine, bool deadlocked) = 0;
  // Whether all that resume() changes is kept in the machine's journal, so that a run may go back. Asked at each reset.
  virtual bool can_rewind() const { return false; }
  // Text of a site's instruction for recordings and findings, e.g. "st.shared.u32"; "" if unknown.
  virtual std::string instruction(SiteId site) const = 0;
};

class GpuMachine final : public Machine {
 public:
  // `model` must outlive the machine.
  GpuMachine(const LaunchModel& model, std::unique_ptr<ThreadBodies> bodies, size_t sites);
  ~GpuMachine() override;

  // --- the seam
  void reset() override;
  std::span<const AgentId> agents() const override;
  const Transition& pending(AgentId agent) const override;
  const Event& step(AgentId agent, uint16_t choice) override;
  std::span<const AgentId> changed() const override;
  std::span<const AgentId> born() const override;
  void finish() override;
  bool rewind(size_t steps) override;
  std::span<const Finding> findings() const override;
  void set_checking(bool on) override;
  void set_recording(bool on) override;
  const std::vector<RecordedEvent>& recording() const override;
  AgentKey key(AgentId agent) const override;
  AgentId agent(const AgentKey& key) override;
  std::string name(AgentId agent) const override;
  std::string name(ObjectId object) const override;
  std::string describe(AgentId agent, const Operation& op) const override;
  SiteId site_of(AgentId agent) const override;
  uint64_t fingerprint() const override;
  const std::vector<bool>& reached() const override;
  void confine(const std::vector<bool>& clusters) override;
  const Footprints& footprints() const override;

  // --- the thread API: plain, acts at once. One call of begin_event an instruction, before its accesses.
  // `collective`: an instruction that the warp runs as one, so that its lanes' accesses race in the strict reading alone.
  void begin_event(ThreadId thread, SiteId site, bool collective = false);
  // Copies bytes to `to` and returns what they carry; out of bounds or misaligned accesses are reported and read poison.
  // `followed`: a number from follow_load, when races with the load count only if its value takes effect.
  ValueTag load(ThreadId thread, uint32_t lane, Range from, void* to, uint32_t followed = 0);
  uint32_t follow_load();
  void load_takes_effect(uint32_t followed, LaneMask lanes);
  void store(ThreadId thread, uint32_t lane, Range to, const void* bytes, ValueTag tag = ValueTag::kKnown);
  void fence(ThreadId thread, FenceKind kind, Scope scope, SiteId site, Order order = Order::kAcqRel);
  // fence.proxy.tensormap::generic.acquire: copies issued after it read the tensor map in `map` as generic accesses
  // before it left it.
  void fence_tensor_map(ThreadId thread, uint32_t lane, Range map, SiteId site);
  void issue(ThreadId thread, uint32_t lane, const AsyncCopy& copy);
  void commit_group(ThreadId thread, uint32_t lane, GroupKind kind = GroupKind::kSmall);  // an empty group counts

  // --- the tensor core. Its operations act when they are issued: like plain accesses they are checked by clock.
  // Issued by `lanes` together. `owner` is the component that names the queue (the lane that issues; lane 0 of the warp, or
  // of the warpgroup's first warp), `number` its place there, from 1; 0: the next one. Returns the number.
  uint32_t issue_tensor(ThreadId thread, LaneMask lanes, uint32_t owner, const TensorOp& op, uint32_t number = 0);
  // The lanes have waited until the queue's operations up to `number` are complete.
  void wait_tensor(ThreadId thread, LaneMask lanes, uint32_t owner, TensorQueue queue, uint32_t number);
  // They use what a load returned without having waited: that it is complete then, the strict reading does not know.
  void use_tensor_load(ThreadId thread, LaneMask lanes, uint32_t owner, uint32_t number);
  uint32_t tensor_issued(uint32_t owner, TensorQueue queue) const;
  // Arrives at the barrier once the operations in the lane's matrix queue are complete.
  void commit_tensor(ThreadId thread, uint32_t lane, ObjectId barrier, uint32_t block, SiteId site);
  ObjectId tensor_memory(uint32_t block);           // the object of kTensorAlloc, kTensorFree, kTensorRelinquish
  RegionId tensor_region(uint32_t block) const;     // kNoRegion if the launch has none
  // Rendezvous of the warps of a warpgroup that have issued the same group of MMAs; one phase.
  ObjectId warpgroup_barrier(uint32_t block, uint32_t warpgroup, uint32_t number);
  // Contents without an access: what an operation that was issued computes with.
  void peek(Range range, uint8_t* bytes, uint8_t* tags) const;
  void poke(Range range, const uint8_t* bytes, const uint8_t* tags);

  // --- objects and visible operations
  ObjectId word_object(Range word);                      // the granule; also fill op.begin and op.size by word_op
  Operation word_op(OpKind kind, Range word);
  ObjectId mbarrier(RegionId region, uint64_t offset);
  ObjectId named_barrier(uint32_t block, uint32_t id);   // countless use awaits all alive threads of the block
  ObjectId cluster_barrier(uint32_t cluster);
  ObjectId warp_barrier(ThreadId thread);                // rendezvous of the lanes of one warp
  // Waits until all but the lane's n newest groups are complete (their read side only, if `read`).
  Operation group_wait_op(ThreadId thread, uint32_t lane, uint32_t n, bool read, GroupKind kind = GroupKind::kSmall);
  // The thread's own next phase of this barrier (counts per thread), for C++ and Pallas waits; advances the counter.
  uint32_t own_next_phase(ThreadId thread, ObjectId barrier);
  // The phase that is running now: what an arrival just taken counted for is last_outcome(thread).phase.
  const ObjectState& state(ObjectId object) const;
  void post(ThreadId thread, const VisibleOp& op);       // the thread's next visible operation
  void finish(ThreadId thread);                          // the thread has ended
  const Answer& last_outcome(ThreadId thread) const;     // of its last visible operation
  uint16_t last_choice(ThreadId thread) const;

  // --- lanes that part and meet. `split` leaves the lowest lane in `thread`; the new thread is resumed by the machine
  // within the same step, after the caller's resume returns.
  ThreadId split(ThreadId thread, LaneMask leave);
  // `from` ends; lanes and clocks go to `into`. A split-off thread inherits the own-phase counters of its parent; after
  // merges `into` has observed of each barrier what all of its parts have (the least of their counters), and its next
  // own-phase wait on a barrier of which they observed different phases is misuse. `from` may have a blocked operation
  // posted: it goes away.
  void merge(ThreadId into, ThreadId from);
  LaneMask lanes(ThreadId thread) const;
  uint32_t block_of(ThreadId thread) const;
  uint32_t warp_base(ThreadId thread) const;             // component of lane 0
  AgentId agent_of(ThreadId thread) const;

  // Digest of all that a later step or check can depend on: memory, objects with what each phase and word holds for those
  // who observe it, every clock, pending transitions, findings. Equal after two orders of steps that commute.
  uint64_t state_digest() const;

  // Hash of every byte that is journaled: the same before a step and after going back behind it.
  uint64_t state_image() const;

  // For frontends that keep their state in it (ThreadBodies::can_rewind).
  Journal& journal();
  // This machine goes back no more: something happened that the journal does not know.
  void forbid_rewind();

  // --- for frontends' own findings and checks
  void report(Finding finding);
  FindingSite site_of_thread(ThreadId thread, LaneMask lanes, std::string role, SiteId site) const;
  std::span<const uint8_t> bytes(RegionId region) const;      // current contents
  bool initialized(RegionId region, uint64_t offset) const;
  std::string range_name(Range range) const;                  // "shared ring[0..31]"
  // Whether only some clusters run: then final memory that differs from what is expected is noted here, not reported.
  bool confined() const;
  void note_unmet(Range range);

  struct Impl;  // gpu_machine_impl.h

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpcheck
