// Runs the code of a kernel for a GpuMachine: warps of 32 lanes with a register file each, in fragments.
//
// A fragment is a thread of the model: lanes of one warp that wait for the same visible operation. Between two visible
// operations its lanes may part and meet again: `paths` is the usual reconvergence stack, the running path on top. When a
// path needs a visible operation while other lanes of its fragment are elsewhere, those become a fragment of their own
// (isolate), so no lane ever waits for another at a join. Fragments meet again where they rendezvous (meet).
//
// Invariant: while a visible operation is posted, the fragment has one path, and that holds all of its lanes.
// An instruction that posts is called again when its operation has been taken, with `stage` as it left it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "frontends/ptx/code.h"
#include "frontends/ptx/load_values.h"
#include "frontends/ptx/matrix_descriptor.h"
#include "model/gpu_machine.h"

namespace warpcheck::ptx {

struct Slot {
  std::array<uint64_t, 32> lane{};
  LaneMask uninitialized = 0, opaque = 0;
  SiteId origin = kNoSite;  // the load that the uninitialized lanes came from
  LaneMask followed = 0;    // lanes whose values come from loads that are followed:
  LoadNode loads = 0;       // these
  LaneMask pending = 0;     // written by the instruction of this ticket, which may not be complete
  uint32_t ticket = 0;
  bool target = false;      // that instruction writes this very register
  bool stale = false;       // computed from a pending register, or overwritten while pending: waiting does not help
  uint32_t epoch = 0;       // Warp::epoch when it was written; 0: by a tensor-core instruction, or never
};

// Of a byte; both at once where a word has bytes of either kind.
constexpr uint8_t kUninitializedTag = static_cast<uint8_t>(ValueTag::kUninitialized);
constexpr uint8_t kOpaqueTag = static_cast<uint8_t>(ValueTag::kOpaque);

// An instruction that writes registers asynchronously.
struct Ticket {
  SiteId site = kNoSite;
  bool load = false;        // tcgen05.ld; else wgmma
  uint32_t number = 0;      // in its queue
  uint64_t form = 0;        // wgmma: shape and types
};

// Groups of wgmma, and the place of the last MMA in each.
struct MmaGroup {
  uint32_t issued = 0;
  uint32_t rendezvous = 0;  // number of the last group that has any, from 1
};

struct Warp {
  uint32_t block = 0;       // in the launch
  uint32_t first = 0;       // component of lane 0
  uint32_t number = 0;      // in its block
  LaneMask all = 0, exited = 0;
  std::array<SiteId, 32> ended{};  // where each lane exited
  std::array<uint32_t, 32> cluster_phase{};  // of each lane's last barrier.cluster.arrive
  std::vector<Slot> slots;
  std::vector<Slot> fresh;  // as a run begins
  LoadValues* loads = nullptr;
  // The tensor core.
  std::vector<Ticket> tickets;
  std::vector<MmaGroup> mma_groups;
  uint32_t mma_issued = 0, mma_awaited = 0, loads_awaited = 0;  // numbers in the queues
  uint32_t groups_awaited = 0;
  uint32_t epoch = 1;       // wgmma.fence instructions run, and one
  std::vector<std::vector<uint8_t>> local, local_tags;  // .local memory of each lane; empty if the kernel has none
};

struct Path {
  uint32_t pc = 0;
  uint32_t join = kNone;
  LaneMask lanes = 0;
};

// Lanes whose operation touches one object.
struct Group {
  uint64_t address = 0;
  LaneMask lanes = 0;
};

// The last strong load or atomic of a fragment that has done nothing since but compute. When it comes back to it with the
// same registers it would go round in circles until the word changes, so it waits for that.
struct Poll {
  uint32_t pc = kNone;
  uint64_t address = 0, registers = 0, value = 0;
  uint64_t effects = 0, stamp = 0;  // of the fragment then; when
};

// A word that was polled, and when last.
struct Polled {
  uint64_t address = 0, stamp = 0;
};

// An arrival at a barrier or rendezvous (rounds.h).
struct Visit {
  uint32_t pc = kNone;
  ObjectId object = kNoObject;
  uint64_t registers = 0, effects = 0, stamp = 0;
  bool in_round = false, steady = false;
};
constexpr size_t kVisitsKept = 16;

struct Fragment {
  Warp* warp = nullptr;
  ThreadId thread{};
  bool live = false;
  std::vector<Path> paths;
  uint32_t stage = 0;
  // Of the visible instruction in progress.
  std::vector<Group> groups;
  size_t group = 0;
  ObjectId object = kNoObject;  // rendezvous
  uint32_t phase = 0;
  Poll poll;
  std::vector<Polled> polled;   // since `effects`
  uint64_t effects = 0;         // stamp of the last instruction that changed something for others
  std::vector<Visit> visits;    // the last ones
  bool waiting = false;         // at the rendezvous (object, phase), having arrived
  LaneMask missing = 0;         // ... of the lanes that a mask names; 0 at barriers of the block

  Path& path() { return paths.back(); }
};

class Interpreter final : public ThreadBodies {
 public:
  // What end_of_run compares, kept by the program.
  class Expectation {
   public:
    virtual ~Expectation() = default;
    virtual void check(GpuMachine& machine) const = 0;
  };

  Interpreter(const Kernel& kernel, const Expectation& expectation) : kernel_(kernel), expectation_(expectation) {}

  void reset(GpuMachine& machine) override;
  void resume(ThreadId thread) override;
  void end_of_run(GpuMachine& machine, bool deadlocked) override;
  std::string instruction(SiteId site) const override { return kernel_.opcodes[index(site)]; }

  // --- for instructions
  const Kernel& kernel() const { return kernel_; }
  GpuMachine& machine() { return *machine_; }
  // Makes the fragment's thread consist of `active` alone. False: this fragment is now the other lanes, and `active` will
  // run the instruction again as a fragment of its own. The other lanes of the running path skip the instruction, or with
  // `others_repeat` run it, too.
  bool isolate(Fragment& fragment, LaneMask active, bool others_repeat = false);
  // The fragment has arrived at the rendezvous (object, phase): takes in the fragments of its warp that wait there at
  // the same instruction. Returns the one that holds the lanes now.
  Fragment& meet(Fragment& fragment);
  // Ends the fragment's thread; all of its lanes must be active.
  void end(Fragment& fragment);
  void post(Fragment& fragment, const Code& code, VisibleOp op);

  struct Place {
    MemorySpace space = MemorySpace::kGlobal;  // kGlobal, kShared, kLocal, kParam
    Range range;                               // kGlobal, kShared
    uint64_t offset = 0;                       // kLocal, kParam
    bool mapped = true;
  };
  // Where an address leads; a shared one from the fragment's block.
  Place place(const Fragment& fragment, MemorySpace space, uint64_t address, uint32_t bytes) const;
  uint32_t shared_region(uint32_t block) const { return kernel_.global_regions + block; }
  uint32_t block_in_cluster(const Fragment& fragment) const { return fragment.warp->block % kernel_.shape.cluster_blocks(); }

  // A source's values take effect: reports lanes that are uninitialized; false if some lane's value is opaque (an
  // unsupported decision, reported; the caller must give up).
  bool takes_effect(Fragment& fragment, const Code& code, const Source& source, LaneMask active, const char* use);
  // Registers that an asynchronous instruction still writes take effect.
  void settle_pending(Fragment& fragment, const Code& code, const Source& source, LaneMask active, const char* use);
  void remember_uninitialized(const Fragment& fragment, const Code& code, Range range, uint32_t lane) {
    remember_uninitialized(fragment, code, machine_->range_name(range), lane);
  }
  void remember_uninitialized(const Fragment& fragment, const Code& code, const std::string& object, uint32_t lane);
  void report(Fragment& fragment, LaneMask lanes, const Code& code, FindingKind kind, const char* role, std::string object,
              std::string message);
  // Reports kUnsupported and ends the run of the fragment. Always kStop.
  Flow unsupported(Fragment& fragment, const Code& code, const std::string& what);
  // The run means nothing from here on (a trap, something unsupported): this fragment ends, others where they next resume.
  void give_up(Fragment& fragment);
  bool gave_up() const { return gave_up_; }
  // Races with the loads that these lanes' values come from count.
  void note_effect(const Warp& warp, const Source& source, LaneMask active) {
    if (source.slot == kNone) return;
    const Slot& slot = warp.slots[source.slot];
    const LaneMask lanes = slot.followed & active;
    if (lanes != 0) load_values_.each(slot.loads, [&](uint32_t load) { machine_->load_takes_effect(load, lanes); });
  }
  LoadValues& load_values() { return load_values_; }
  // A value is stored: uninitialized lanes are reported, opaque ones returned; those stay opaque in memory, without a word.
  LaneMask stored(Fragment& fragment, const Code& code, const Source& source, LaneMask active);
  void report_skipped_barrier(Fragment& arriver, const Code& code);

  // The chunks of a matrix operand, and the ranges that they make up in a block's shared memory.
  struct Operands {
    std::vector<uint32_t> chunks;
    std::vector<std::pair<uint32_t, uint32_t>> ranges;
  };
  const Operands& operands(const MatrixDescriptor& descriptor, uint64_t bits, const OperandShape& shape);
  // What the warps of a warpgroup said when they issued its number-th MMA together: they must agree.
  struct Issued {
    SiteId site = kNoSite;
    uint64_t a = 0, b = 0;
    bool adds = false;
    FindingSite first;
  };
  std::vector<Issued>& issued_by(uint32_t block, uint32_t warpgroup) { return issued_[{block, warpgroup}]; }

  // Fragments of a warp, live ones.
  template <class F>
  void each_fragment_of(uint32_t block, F&& f) {
    for (Fragment& fragment : fragments_) {
      if (fragment.live && fragment.warp->block == block) f(fragment);
    }
  }
  uint64_t next_stamp() { return ++stamp_; }

  template <class F>
  void each_fragment(const Warp& warp, F&& f) {
    for (uint32_t lane = 0; lane < 32 && warp.first + lane < fragments_.size(); ++lane) {
      Fragment& fragment = fragments_[warp.first + lane];
      if (fragment.live && fragment.warp == &warp) f(fragment);
    }
  }

 private:
  void start(uint32_t block, uint32_t number, uint32_t first);
  void fill_specials(Warp& warp);
  uint64_t special(Special special, const Warp& warp, uint32_t lane) const;
  bool run(Fragment& fragment);
  bool predicated(Fragment& fragment, const Code& code, LaneMask lanes, LaneMask& active);
  void check_masks();

  struct UninitializedLoad {
    std::string object;
    FindingSite site;
  };

  const Kernel& kernel_;
  const Expectation& expectation_;
  GpuMachine* machine_ = nullptr;
  std::vector<Warp> warps_;
  std::vector<Fragment> fragments_;   // by the component of their lowest lane
  std::map<SiteId, UninitializedLoad> uninitialized_;
  std::set<std::pair<SiteId, FindingKind>> reported_;
  std::map<std::tuple<uint64_t, uint32_t, uint32_t, uint32_t, bool>, Operands> operands_;  // kept over runs
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Issued>> issued_;
  uint64_t stamp_ = 0;
  LoadValues load_values_;
  bool gave_up_ = false;              // something unsupported was reached: the run means nothing from there on
};

// The value of a source in a lane, and tags of all lanes.
inline uint64_t value_of(const Warp& warp, const Source& source, uint32_t lane) {
  return source.slot == kNone ? source.value : warp.slots[source.slot].lane[lane];
}

inline uint8_t tags_of(const Warp& warp, const Source& source, uint32_t lane) {
  if (source.slot == kNone) return 0;
  const Slot& slot = warp.slots[source.slot];
  return static_cast<uint8_t>(((slot.uninitialized >> lane & 1) != 0 ? kUninitializedTag : 0) | ((slot.opaque >> lane & 1) != 0 ? kOpaqueTag : 0));
}

template <class F>
void each_lane(LaneMask lanes, F&& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(static_cast<uint32_t>(__builtin_ctz(lanes)));
}

inline bool awaited(const Warp& warp, const Ticket& ticket) {
  return ticket.number <= (ticket.load ? warp.loads_awaited : warp.mma_awaited);
}

// Lanes whose register is pending still, or was computed from one that was.
inline LaneMask pending_lanes(const Warp& warp, const Slot& slot) {
  if (slot.pending == 0 || slot.stale) return slot.pending;
  return awaited(warp, warp.tickets[slot.ticket]) ? 0 : slot.pending;
}

inline void overwrite_pending(const Warp& warp, Slot& slot, LaneMask lanes) {
  if (slot.target && !awaited(warp, warp.tickets[slot.ticket])) {
    slot.stale = true;  // the asynchronous write may still come, and then this one is lost
    return;
  }
  slot.pending &= ~lanes;
  if (slot.pending == 0) slot.stale = slot.target = false;
}

// Tags of the result: those of the sources, in the lanes that were written.
inline void mark(Warp& warp, uint32_t to, LaneMask lanes, LaneMask uninitialized, LaneMask opaque, SiteId origin,
                 LaneMask followed = 0, LoadNode loads = 0) {
  Slot& slot = warp.slots[to];
  slot.followed &= ~lanes;
  if ((followed & lanes) != 0) {
    slot.loads = slot.followed == 0 ? loads : warp.loads->join(slot.loads, loads);
    slot.followed |= followed & lanes;
  }
  slot.uninitialized = (slot.uninitialized & ~lanes) | (uninitialized & lanes);
  slot.opaque = (slot.opaque & ~lanes) | (opaque & lanes);
  if ((uninitialized & lanes) != 0) slot.origin = origin;
  if (slot.pending != 0) overwrite_pending(warp, slot, lanes);
  slot.epoch = warp.epoch;
}

}  // namespace warpcheck::ptx
