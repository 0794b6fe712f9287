// The threads of a C++ kernel for one machine: a fiber each, made when first needed and reused by every run. Internal
// to this folder.
//
// Going back. A thread's journaled `log` has all that the kernel learned from outside: results, phases, choices, loaded
// values. When the machine has gone back, a fiber may be ahead of its log, or on another way. That is seen when it is to
// run: then it starts anew and is *fed* from the log, without a word to the machine, up to its pending operation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontends/cpp/fiber.h"
#include "frontends/cpp/launch.h"
#include "frontends/cpp/thread.h"
#include "model/gpu_machine.h"
#include "model/journal.h"

namespace warpcheck {

class CppThreads;

// What a kernel can see of the outcome of its visible operation.
struct Seen {
  uint64_t result = 0;
  uint32_t phase = 0;
  uint16_t choice = 0;
};

// A thread, or a warp of a forked warpgroup, by its clock component.
struct ThreadState {
  ThreadState(CppThreads& owner, const ThreadSeat& place, Journal& journal) : threads(owner), seat(place), log(journal) {}

  CppThreads& threads;
  const ThreadSeat& seat;
  ThreadId id{};
  Fiber fiber;
  const Kernel::Body* body = nullptr;
  bool forked = false;  // a warpgroup: its lanes are threads of their own now
  bool merged = false;  // a forked warp: taken back
  bool posted = false;  // the fiber suspended with `op`
  VisibleOp op;
  SiteId last_site = kNoSite;
  uint32_t actions = 0;  // plain ones since the last visible operation
  uint32_t stops = 0;    // Stopped thrown
  uint32_t cluster_phase = 0;

  // Plain loads of one site and nothing else, since the last visible operation or another action.
  uint32_t loads = 0;
  SiteId loads_site = kNoSite;
  bool asks = false;    // the fiber suspended to ask whether its state is that of the last time it asked
  uint32_t asked = 0;   // how often
  bool recurs = false;  // the answer

  JournaledVector<uint64_t> log;
  bool started = false;   // it has run to its first visible operation
  bool feeding = false;   // its calls are answered from the log
  size_t position = 0;    // the fiber has come so far in the log
  Seen seen;              // of the last visible operation

  Seen* read_outcome() {
    const uint64_t rest = log[position + 1];
    seen = {log[position], static_cast<uint32_t>(rest), static_cast<uint16_t>(rest >> 32)};
    position += 2;
    return &seen;
  }
  // The outcome of the operation that the fiber is about to take, if it is fed and this is not the last one.
  Seen* fed() { return feeding && position + 2 < log.size() ? read_outcome() : nullptr; }

  bool polling = false;  // `polled` was the last visible operation, and the fiber remembers its stack from then
  Operation polled;
  SiteId polled_site = kNoSite;
};

class CppThreads final : public ThreadBodies {
 public:
  // Thrown into a kernel whose thread must not go on (a limit); the thread ends without another word.
  struct Stopped {};
  static constexpr uint32_t kLoadsBetweenAsking = 1024;
  static constexpr uint32_t kMaxActions = 1'000'000;  // plain ones between two visible operations

  explicit CppThreads(Launch& launch);
  ~CppThreads() override;

  void reset(GpuMachine& machine) override;
  void resume(ThreadId thread) override;
  bool can_rewind() const override { return can_rewind_; }
  void end_of_run(GpuMachine& machine, bool deadlocked) override;
  std::string instruction(SiteId site) const override;

  // For Thread.
  GpuMachine& machine() { return *machine_; }
  const Launch& launch() const { return launch_; }
  SiteId intern(const Where& at, const char* text) { return sites_.intern(at, text); }
  AsyncCopy& copy() { return copy_; }
  void meet_block_barrier() { met_block_barrier_ = true; }
  void meet_cluster_barrier() { met_cluster_barrier_ = true; }
  bool met_block_barrier() const { return met_block_barrier_; }
  bool met_cluster_barrier() const { return met_cluster_barrier_; }
  // From inside a fiber: posts the state's `op` and suspends, or is fed.
  const Seen& take(ThreadState& state);
  // What a load found, in the log or from it.
  void load(ThreadState& state, const Range& from, void* to);
  void start_warp(ThreadId thread, const Kernel::Body& body);
  void end_warp(ThreadId thread);
  void report(const ThreadState& state, FindingKind kind, std::string message, std::string role);  // at its last site
  void report_exception(const ThreadState& state);  // the one being handled

 private:
  static void run(void* state);
  void end_thread(ThreadState& state);
  void unwind_all();
  ThreadState& state(ThreadId thread);
  void start(ThreadState& state);
  bool feed(ThreadState& state);
  bool polls(const Operation& op) const;
  void log_outcome(ThreadState& state);
  void answer(ThreadState& state);
  void turn_poll_into_wait(ThreadState& state);

  Launch& launch_;
  GpuMachine* machine_ = nullptr;
  SiteCache sites_;
  std::vector<std::unique_ptr<ThreadState>> states_;              // by component
  // Off: every thread runs anew. In builds that optimize little, the stack of a fiber that was fed is not that of one that
  // ran, and its polls would not be seen.
  bool can_rewind_ = false;
  bool met_block_barrier_ = false, met_cluster_barrier_ = false;  // in some run
  AsyncCopy copy_;                                                // kept for its capacity
};

}  // namespace warpcheck
