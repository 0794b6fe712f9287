#include "frontends/cpp/thread.h"

#include <algorithm>
#include <stdexcept>

#include "frontends/cpp/threads.h"
#include "model/check.h"

namespace warpcheck {

uint32_t Thread::index() const { return state_.seat.index; }
uint32_t Thread::rank() const { return state_.seat.rank; }
uint32_t Thread::warp() const { return state_.seat.lane; }
uint32_t Thread::block() const { return state_.seat.block; }
uint32_t Thread::block_rank() const { return state_.seat.block % state_.threads.launch().grid.cluster; }

uint32_t Thread::lanes() const { return state_.forked || state_.seat.lane != 0 ? 1 : state_.seat.role->lanes; }

Scope Thread::barrier_scope() const {
  return state_.threads.launch().grid.cluster > 1 ? Scope::kCluster : Scope::kBlock;
}

bool Thread::enter(bool has_result) {
  if (!state_.fiber.unwinding()) [[likely]]
    return true;
  state_.fiber.interrupted(has_result);
  return false;
}

const Seen& Thread::visible(const VisibleOp& op, bool has_result) {
  state_.op = op;
  return take(has_result);
}

const Seen& Thread::take(bool has_result) {
  static const Seen nothing;
  const Seen& seen = state_.threads.take(state_);
  state_.actions = 0;
  return enter(has_result) ? seen : nothing;
}

SiteId Thread::act(const char* text, Where at) {
  const SiteId site = state_.threads.intern(at, text);
  state_.last_site = site;
  if (++state_.actions <= CppThreads::kMaxActions) [[likely]]
    return site;
  if (state_.stops++ == 0) {
    state_.threads.report(state_, FindingKind::kLimit, "more than a million plain operations without a visible one",
                          "last operation");
  }
  if (state_.stops > 100) {  // the kernel swallows it for ever
    state_.threads.machine().finish(state_.id);
    state_.fiber.leave_behind();
  }
  throw CppThreads::Stopped{};
}

// --- memory

Range Thread::range(const Place& place, uint32_t bytes) const {
  return {state_.threads.launch().region(place, state_.seat.block), place.offset, bytes};
}

// Under --plain-steps: a step for each 8-byte word that the access touches; it acts after the last of them.
void Thread::plain_steps(OpKind kind, const Range& range, const void* bytes, SiteId site) {
  for (uint64_t at = range.offset; at < range.offset + range.bytes;) {
    const uint64_t end = std::min(range.offset + range.bytes, at / 8 * 8 + 8);
    const Range piece{range.region, at, static_cast<uint32_t>(end - at)};
    VisibleOp step{.op = state_.threads.machine().word_op(kind, piece), .site = site};
    if (bytes != nullptr) {
      std::memcpy(&step.op.operand, static_cast<const uint8_t*>(bytes) + (at - range.offset), piece.bytes);
    }
    visible(step, kind == OpKind::kPlainLoad);
    if (state_.fiber.unwinding()) return;
    at = end;
  }
}

void Thread::read(const Place& from, void* to, uint32_t bytes, Where at) {
  if (!enter(true)) return;
  const SiteId site = act("load", at);
  const Range source = range(from, bytes);
  if (state_.threads.launch().model.plain_steps) plain_steps(OpKind::kPlainLoad, source, nullptr, site);
  if (state_.fiber.unwinding()) return;
  if (!state_.feeding) state_.threads.machine().begin_event(state_.id, site);
  state_.threads.load(state_, source, to);
  if (state_.actions == 1 || state_.loads_site != site || state_.loads + 1 != state_.actions) {
    state_.loads_site = site;
    state_.loads = state_.actions;
    state_.asked = 0;
    return;
  }
  if (++state_.loads % CppThreads::kLoadsBetweenAsking == 0 && recurs()) wait_for_change(source, to, at);
}

// Is the state of the fiber that of the last question? In a function of its own, and before anything else is on the
// stack: what calls left there would differ.
__attribute__((noinline)) bool Thread::recurs() {
  state_.asks = true;
  state_.fiber.suspend();
  return enter(true) && state_.recurs;
}

// A loop of nothing but one plain load, which is always a race or a deadlock: nobody else runs before it ends. If its
// state recurs it suspends until the bytes change, in the eyes of the search: the store that changes them races with
// it.
__attribute__((noinline)) void Thread::wait_for_change(const Range& source, const void* value, Where at) {
  const bool word = std::has_single_bit(source.bytes) && source.bytes <= 8 && source.offset % source.bytes == 0;
  if (!word || !state_.threads.launch().detect_spins) return;
  VisibleOp wait{.op = state_.threads.machine().word_op(OpKind::kLoad, source),
                 .site = state_.threads.intern(at, "load")};
  std::memcpy(&wait.op.predicate_operand, value, source.bytes);
  wait.op.predicate = [](uint64_t now, uint64_t before) { return now != before; };
  visible(wait, true);
}

void Thread::write(const Place& to, const void* from, uint32_t bytes, Where at) {
  if (!enter(false)) return;
  const SiteId site = act("store", at);
  const Range target = range(to, bytes);
  if (state_.threads.launch().model.plain_steps) plain_steps(OpKind::kPlainStore, target, from, site);
  if (state_.fiber.unwinding() || state_.feeding) return;
  GpuMachine& machine = state_.threads.machine();
  machine.begin_event(state_.id, site);
  machine.store(state_.id, state_.seat.lane, target, from);
}

namespace {

// Frames to come lie on what calls of the machine left here. It must be the same in each round of a loop that polls, for
// the fiber's stack is compared byte by byte.
__attribute__((noinline)) void scrub_stack() {
  char area[2048];
  std::memset(area, 0, sizeof area);
  asm volatile("" : : "r"(area) : "memory");
}

}  // namespace

uint64_t Thread::word_visible(const char* text, const Place& word, const Operation& op, Order order, Scope scope,
                              Where at) {
  if (const Seen* seen = state_.fed()) {
    state_.actions = 0;
    return seen->result;
  }
  const bool has_result = op.kind == OpKind::kLoad || op.kind == OpKind::kUpdate;
  if (!enter(has_result)) return 0;
  VisibleOp& posted = state_.op;  // filled in place: a step should not copy more than it must
  posted = {.op = op, .site = state_.threads.intern(at, text), .order = order, .scope = scope};
  posted.op.object = state_.threads.machine().word_object(range(word, op.size));
  posted.op.begin = static_cast<uint8_t>(word.offset % 16);
  scrub_stack();
  const uint64_t result = take(has_result).result;
  scrub_stack();
  return result;
}

// --- fences

void Thread::fence(const char* text, FenceKind kind, Scope scope, Order order, Where at) {
  if (!enter(false)) return;
  const SiteId site = act(text, at);
  if (!state_.feeding) state_.threads.machine().fence(state_.id, kind, scope, site, order);
}
void Thread::fence(Scope scope, Order order, Where at) { fence("fence", FenceKind::kThread, scope, order, at); }
void Thread::fence_proxy_async(Where at) {
  fence("fence_proxy_async", FenceKind::kProxyAsync, Scope::kBlock, Order::kAcqRel, at);
}
void Thread::fence_proxy_async_shared(Where at) {
  fence("fence_proxy_async_shared", FenceKind::kProxyAsyncShared, Scope::kBlock, Order::kAcqRel, at);
}
void Thread::fence_proxy_async_global(Where at) {
  fence("fence_proxy_async_global", FenceKind::kProxyAsyncGlobal, Scope::kBlock, Order::kAcqRel, at);
}
void Thread::commit_smem(Where at) {
  fence("commit_smem", FenceKind::kProxyAsyncShared, Scope::kBlock, Order::kAcqRel, at);
}
void Thread::fence_mbarrier_init(Where at) {
  fence("fence_mbarrier_init", FenceKind::kMbarrierInit, Scope::kCluster, Order::kRelease, at);
}

// --- mbarriers

void Thread::barrier_op(const char* text, OpKind kind, Mbarrier barrier, const Operation& rest, Where at) {
  if (!enter(false)) return;
  GpuMachine& machine = state_.threads.machine();
  const bool waits = kind == OpKind::kWaitPhase || kind == OpKind::kWaitParity;
  VisibleOp op{.op = rest,
               .site = state_.threads.intern(at, text),
               .order = waits ? Order::kAcquire : Order::kRelease,
               .scope = barrier_scope()};
  op.op.kind = kind;
  op.op.object =
      machine.mbarrier(state_.threads.launch().region(barrier.place, state_.seat.block), barrier.place.offset);
  if (kind == OpKind::kWaitPhase && !state_.feeding) {
    op.op.operand = machine.own_next_phase(state_.id, op.op.object);
    op.own_phase = true;
  }
  visible(op, false);
}

void Thread::init(Mbarrier barrier, uint32_t arrivals, Where at) {
  barrier_op("init", OpKind::kBarrierInit, barrier, {.operand = arrivals}, at);
}
void Thread::inval(Mbarrier barrier, Where at) { barrier_op("inval", OpKind::kBarrierInval, barrier, {}, at); }
void Thread::arrive(Mbarrier barrier, uint32_t count, Where at) {
  barrier_op("arrive", OpKind::kArrive, barrier, {.operand = count}, at);
}
void Thread::arrive_drop(Mbarrier barrier, uint32_t count, Where at) {
  barrier_op("arrive_drop", OpKind::kArrive, barrier, {.drop = true, .operand = count}, at);
}
void Thread::arrive_expect_tx(Mbarrier barrier, int64_t bytes, Where at) {
  barrier_op("arrive_expect_tx", OpKind::kArrive, barrier, {.operand = 1, .bytes = bytes}, at);
}
void Thread::expect_tx(Mbarrier barrier, int64_t bytes, Where at) {
  barrier_op("expect_tx", OpKind::kExpectTx, barrier, {.bytes = bytes}, at);
}
void Thread::complete_tx(Mbarrier barrier, int64_t bytes, Where at) {
  barrier_op("complete_tx", OpKind::kCompleteTx, barrier, {.bytes = bytes}, at);
}
void Thread::wait(Mbarrier barrier, Where at) { barrier_op("wait", OpKind::kWaitPhase, barrier, {}, at); }
void Thread::wait_parity(Mbarrier barrier, uint32_t parity, Where at) {
  barrier_op("wait_parity", OpKind::kWaitParity, barrier, {.operand = parity & 1}, at);
}

// --- other barriers

uint32_t Thread::meet(const char* text, ObjectId barrier, uint32_t count, uint32_t awaited, Scope scope, Where at) {
  return visible({.op = {.kind = OpKind::kBarrierArrive, .object = barrier, .operand = count, .bytes = awaited},
                  .site = state_.threads.intern(at, text),
                  .order = Order::kRelease,
                  .scope = scope},
                 false)
      .phase;
}

void Thread::wait_phase(const char* text, ObjectId barrier, uint32_t phase, Scope scope, Where at) {
  if (!enter(false)) return;
  visible({.op = {.kind = OpKind::kWaitPhase, .object = barrier, .operand = phase},
           .site = state_.threads.intern(at, text),
           .order = Order::kAcquire,
           .scope = scope},
          false);
}

void Thread::sync_threads(Where at) {
  if (!enter(false)) return;
  state_.threads.meet_block_barrier();
  const ObjectId barrier = state_.threads.machine().named_barrier(state_.seat.block, 0);
  const uint32_t phase = meet("sync_threads", barrier, lanes(), 0, Scope::kBlock, at);
  wait_phase("sync_threads", barrier, phase, Scope::kBlock, at);
}

void Thread::named_sync(uint32_t id, uint32_t count, Where at) {
  if (!enter(false)) return;
  const ObjectId barrier = state_.threads.machine().named_barrier(state_.seat.block, id);
  const uint32_t phase = meet("named_sync", barrier, lanes(), count, Scope::kBlock, at);
  wait_phase("named_sync", barrier, phase, Scope::kBlock, at);
}

void Thread::named_arrive(uint32_t id, uint32_t count, Where at) {
  if (!enter(false)) return;
  meet("named_arrive", state_.threads.machine().named_barrier(state_.seat.block, id), lanes(), count, Scope::kBlock,
       at);
}

void Thread::cluster_arrive(Where at) {
  if (!enter(false)) return;
  const uint32_t cluster = state_.seat.block / state_.threads.launch().grid.cluster;
  state_.threads.meet_cluster_barrier();
  const ObjectId barrier = state_.threads.machine().cluster_barrier(cluster);
  state_.cluster_phase = meet("cluster_arrive", barrier, lanes(), 0, Scope::kCluster, at);
}

void Thread::cluster_wait(Where at) {
  if (!enter(false)) return;
  const uint32_t cluster = state_.seat.block / state_.threads.launch().grid.cluster;
  wait_phase("cluster_wait", state_.threads.machine().cluster_barrier(cluster), state_.cluster_phase, Scope::kCluster,
             at);
}

void Thread::cluster_sync(Where at) {
  cluster_arrive(at);
  cluster_wait(at);
}

// --- asynchronous copies

void Thread::issue(const char* text, const Slice& to, const Slice& from, const Mbarrier* barrier, int64_t bytes,
                   Where at) {
  if (to.bytes() != from.bytes()) {
    throw std::invalid_argument("copy of " + std::to_string(from.bytes()) + " bytes into " +
                                std::to_string(to.bytes()));
  }
  const SiteId site = act(text, at);
  if (state_.feeding) return;
  GpuMachine& machine = state_.threads.machine();
  const Launch& launch = state_.threads.launch();
  AsyncCopy& copy = state_.threads.copy();
  const auto pieces = [&](const Slice& slice, std::vector<Range>& ranges) {
    ranges.clear();
    for (uint32_t row = 0; row < slice.rows; ++row) {
      ranges.push_back(range(slice.place.at(row * slice.pitch), slice.row_bytes));
    }
  };
  pieces(from, copy.reads);
  pieces(to, copy.writes);
  copy.barrier = kNoObject;
  copy.complete_bytes = bytes;
  copy.grouped = barrier == nullptr;
  copy.block = state_.seat.block;
  copy.site = site;
  if (barrier != nullptr) {
    copy.barrier = machine.mbarrier(launch.region(barrier->place, state_.seat.block), barrier->place.offset);
    if (to.place.shared && to.place.rank != Place::kOwnBlock) {
      copy.block = state_.seat.block / launch.grid.cluster * launch.grid.cluster + to.place.rank % launch.grid.cluster;
    }
  }
  machine.issue(state_.id, state_.seat.lane, copy);
}

void Thread::copy_async(const Slice& to, const Slice& from, Mbarrier barrier, Where at) {
  if (!enter(false)) return;
  issue("copy_async", to, from, &barrier, 0, at);
}

void Thread::copy_bytes_async(const Slice& to, const Slice& from, Mbarrier barrier, Where at) {
  if (!enter(false)) return;
  issue("copy_bytes_async", to, from, &barrier, static_cast<int64_t>(to.bytes()), at);
}

void Thread::copy_multicast(const Slice& to, const Slice& from, Mbarrier barrier, uint32_t mask, Where at) {
  if (!enter(false)) return;
  for (uint32_t rank = 0; rank < state_.threads.launch().grid.cluster; ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    const Mbarrier there = barrier.of(rank);
    issue("copy_multicast", to.of(rank), from, &there, static_cast<int64_t>(to.bytes()), at);
  }
}

void Thread::copy_async(const Slice& to, const Slice& from, Where at) {
  if (!enter(false)) return;
  issue("copy_async", to, from, nullptr, 0, at);
  commit_group();
}

void Thread::copy_grouped(const Slice& to, const Slice& from, Where at) {
  if (!enter(false)) return;
  issue("copy_grouped", to, from, nullptr, 0, at);
}

void Thread::commit_group() {
  if (!enter(false)) return;
  ++state_.actions;
  if (!state_.feeding) state_.threads.machine().commit_group(state_.id, state_.seat.lane);
}

void Thread::wait_group(const char* text, uint32_t newest, bool read, Where at) {
  if (!enter(false)) return;
  visible({.op = state_.threads.machine().group_wait_op(state_.id, state_.seat.lane, newest, read),
           .site = state_.threads.intern(at, text),
           .order = Order::kAcquire},
          false);
}
void Thread::wait_group(uint32_t newest, Where at) { wait_group("wait_group", newest, false, at); }
void Thread::wait_group_read(uint32_t newest, Where at) { wait_group("wait_group_read", newest, true, at); }

// --- the search

uint32_t Thread::choose(uint32_t n, Where at) {
  if (!enter(true)) return 0;
  if (n == 0 || n > 0xffff) throw std::invalid_argument("choose: between 1 and 65535 choices");
  VisibleOp op{.op = {.kind = OpKind::kLocal, .choices = static_cast<uint16_t>(n)},
               .site = state_.threads.intern(at, "choose")};
  visible(op, true);
  return state_.fiber.unwinding() ? 0 : state_.seen.choice;
}

void Thread::assert_that(bool condition, const char* message, Where at) {
  if (condition || !enter(false)) return;
  act("assert_that", at);
  state_.threads.report(state_, FindingKind::kAssertion, message, "assertion");
}

// --- warps of a warpgroup

// The lanes of a warpgroup meet twice: before they part, so that each is ordered after all that the warpgroup did
// (which lane 0 acts for); and at the end, where warps 1 to 3 wait for the meeting after that, which never comes: warp
// 0 takes their lanes back while they wait.
void Thread::fork_warps(const std::function<void(Thread&)>& body, Where at) {
  if (!enter(false)) return;
  if (lanes() != 4) throw std::logic_error("fork_warps: only a warpgroup forks, and only once at a time");
  GpuMachine& machine = state_.threads.machine();
  const ObjectId barrier = machine.warp_barrier(state_.id);
  wait_phase("fork_warps", barrier, meet("fork_warps", barrier, 4, 4, Scope::kBlock, at), Scope::kBlock, at);
  if (state_.fiber.unwinding()) return;
  for (uint32_t warp = 1; warp < 4; ++warp) {
    state_.threads.start_warp(machine.split(state_.id, LaneMask{1} << warp), body);
  }
  state_.forked = true;
  bool failed = false;
  try {
    body(*this);
  } catch (...) {
    if (state_.fiber.unwinding()) throw;
    state_.threads.report_exception(state_);
    failed = true;
  }
  join_warpgroup(at);
  if (failed && !state_.fiber.unwinding()) throw CppThreads::Stopped{};
}

void Thread::join_warpgroup(Where at) {
  if (!enter(false)) return;
  GpuMachine& machine = state_.threads.machine();
  const ObjectId barrier = machine.warp_barrier(state_.id);
  const uint32_t phase = meet("join_warps", barrier, 1, 4, Scope::kBlock, at);
  const bool keeps = state_.seat.lane == 0;
  wait_phase("join_warps", barrier, keeps ? phase : phase + 1, Scope::kBlock, at);
  if (!keeps || state_.fiber.unwinding()) return;
  for (uint32_t warp = 1; warp < 4; ++warp) {
    const auto other = static_cast<ThreadId>(static_cast<uint32_t>(state_.id) + warp);
    machine.merge(state_.id, other);
    state_.threads.end_warp(other);
  }
  state_.forked = false;
}

}  // namespace warpcheck
