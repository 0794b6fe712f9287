// A kernel thread as its own code sees it: what it may do to memory and barriers.
//
// Plain loads and stores, fences and the issue of copies act at once. Atomics, barrier operations, group waits and
// `choose` are visible: the thread stops there until the search lets it go on, and what they return depends on the
// order explored. Between two of them a kernel is ordinary C++: locals, loops, exceptions, heap objects. It must be
// deterministic, and talk to other threads only through this class.
//
// A kernel thread that throws ends with an `assertion` finding. One that waits for ever is left by an exception of type
// Fiber::Unwind at that point, so that its objects are destroyed; this class may still be called then and does nothing.
//
// Source lines are the caller's (default arguments); a function that wraps these may take and hand on a Where.
#pragma once

#include <bit>
#include <cstring>
#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "frontends/cpp/handles.h"
#include "model/gpu_machine.h"

namespace warpcheck {

using Where = std::source_location;

struct ThreadState;  // threads.h
struct Seen;

// An empty function object over two values of T, e.g. std::equal_to{}: the conditions that waits can have.
template <class F, class T>
concept Condition = std::is_empty_v<F> && std::is_default_constructible_v<F> && std::is_invocable_r_v<bool, F, T, T>;

class Thread {
 public:
  explicit Thread(ThreadState& state) : state_(state) {}
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  // --- who it is
  uint32_t index() const;  // number in its block, through all roles; of a forked warp: its warpgroup's
  uint32_t rank() const;   // number in its role
  uint32_t warp() const;   // 0..3 in fork_warps, else 0
  uint32_t block() const;
  uint32_t block_rank() const;  // in its cluster

  // --- plain memory
  template <class T>
  T load(Element<T> from, Where at = Where::current()) {
    std::remove_const_t<T> value{};
    read(from.place, &value, sizeof value, at);
    return value;
  }
  template <class T>
  void store(Element<T> to, std::type_identity_t<T> value, Where at = Where::current()) {
    write(to.place, &value, sizeof value, at);
  }

  // --- atomics. Results are the old values.
  template <class T>
  T load(Atomic<T> word, Order order = Order::kAcquire, Scope scope = Scope::kDevice, Where at = Where::current()) {
    return decode<T>(word_op("load", OpKind::kLoad, word, {}, order, scope, at));
  }
  template <class T>
  void store(Atomic<T> word, std::type_identity_t<T> value, Order order = Order::kRelease, Scope scope = Scope::kDevice,
             Where at = Where::current()) {
    word_op("store", OpKind::kStore, word, {.operand = encode<T>(value)}, order, scope, at);
  }
  template <class T>
  T exchange(Atomic<T> word, std::type_identity_t<T> value, Order order = Order::kAcqRel, Scope scope = Scope::kDevice,
             Where at = Where::current()) {
    return update(word, Rmw::kExchange, value, order, scope, at);
  }
  // Strong; it succeeded if it returns `expected`.
  template <class T>
  T compare_exchange(Atomic<T> word, std::type_identity_t<T> expected, std::type_identity_t<T> desired,
                     Order order = Order::kAcqRel, Scope scope = Scope::kDevice, Where at = Where::current()) {
    return decode<T>(word_op("compare_exchange", OpKind::kUpdate, word,
                             {.rmw = Rmw::kCompareSwap, .operand = encode<T>(desired), .compare = encode<T>(expected)},
                             order, scope, at));
  }
  template <class T>
  T fetch_add(Atomic<T> word, std::type_identity_t<T> value, Order order = Order::kAcqRel, Scope scope = Scope::kDevice,
              Where at = Where::current()) {
    return update(word, add<T>(), value, order, scope, at);
  }
  // Any read-modify-write: kExchange, kAdd, kMinS, kAnd, ...
  template <class T>
  T update(Atomic<T> word, Rmw rmw, std::type_identity_t<T> value, Order order = Order::kAcqRel,
           Scope scope = Scope::kDevice, Where at = Where::current()) {
    return decode<T>(
        word_op("update", OpKind::kUpdate, word, {.rmw = rmw, .operand = encode<T>(value)}, order, scope, at));
  }
  // The same with the result dropped: reductions by one operator commute.
  template <class T>
  void reduce(Atomic<T> word, Rmw rmw, std::type_identity_t<T> value, Order order = Order::kRelaxed,
              Scope scope = Scope::kDevice, Where at = Where::current()) {
    word_op("reduce", OpKind::kReduce, word, {.rmw = rmw, .operand = encode<T>(value)}, order, scope, at);
  }
  template <class T>
  void reduce_add(Atomic<T> word, std::type_identity_t<T> value, Order order = Order::kRelaxed,
                  Scope scope = Scope::kDevice, Where at = Where::current()) {
    reduce(word, add<T>(), value, order, scope, at);
  }
  // Waits until condition(word, value); costs no execution while it does not hold. Returns the word.
  template <class T, Condition<T> F>
  T await(Atomic<T> word, F, std::type_identity_t<T> value, Order order = Order::kAcquire, Scope scope = Scope::kDevice,
          Where at = Where::current()) {
    return decode<T>(word_op("await", OpKind::kLoad, word,
                             {.predicate = &holds<T, F>, .predicate_operand = encode<T>(value)}, order, scope, at));
  }
  // Waits until condition(word, value), then exchanges in the same step: a lock that is taken when free.
  template <class T, Condition<T> F>
  T exchange_when(Atomic<T> word, F, std::type_identity_t<T> value, std::type_identity_t<T> desired,
                  Order order = Order::kAcqRel, Scope scope = Scope::kDevice, Where at = Where::current()) {
    return decode<T>(word_op("exchange_when", OpKind::kUpdate, word,
                             {.rmw = Rmw::kExchange,
                              .operand = encode<T>(desired),
                              .predicate = &holds<T, F>,
                              .predicate_operand = encode<T>(value)},
                             order, scope, at));
  }

  // --- fences
  void fence(Scope scope = Scope::kDevice, Order order = Order::kAcqRel, Where at = Where::current());
  void fence_proxy_async(Where at = Where::current());  // both spaces
  void fence_proxy_async_shared(Where at = Where::current());
  void fence_proxy_async_global(Where at = Where::current());
  void commit_smem(Where at = Where::current());  // Pallas' name of fence_proxy_async_shared
  void fence_mbarrier_init(Where at = Where::current());

  // --- mbarriers. Arrivals release, waits acquire, at the scope of the block, or of the cluster if there is one.
  void init(Mbarrier barrier, uint32_t arrivals, Where at = Where::current());
  void inval(Mbarrier barrier, Where at = Where::current());
  void arrive(Mbarrier barrier, uint32_t count = 1, Where at = Where::current());
  void arrive_drop(Mbarrier barrier, uint32_t count = 1, Where at = Where::current());
  void arrive_expect_tx(Mbarrier barrier, int64_t bytes, Where at = Where::current());
  void expect_tx(Mbarrier barrier, int64_t bytes, Where at = Where::current());
  void complete_tx(Mbarrier barrier, int64_t bytes, Where at = Where::current());
  void wait(Mbarrier barrier, Where at = Where::current());  // for the thread's own next phase
  void wait_parity(Mbarrier barrier, uint32_t parity, Where at = Where::current());

  // --- other barriers. Counts are in threads (warps, as declared); a warpgroup counts as its four warps.
  void sync_threads(Where at = Where::current());                             // all alive threads of the block
  void named_sync(uint32_t id, uint32_t count, Where at = Where::current());  // 1 <= id < 16
  void named_arrive(uint32_t id, uint32_t count, Where at = Where::current());
  void cluster_arrive(Where at = Where::current());
  void cluster_wait(Where at = Where::current());
  void cluster_sync(Where at = Where::current());

  // --- asynchronous copies
  // Arrives once at the barrier when complete, and hands on what the issuer had done at issue.
  void copy_async(const Slice& to, const Slice& from, Mbarrier barrier, Where at = Where::current());
  // Completes its bytes at the barrier, which expects them by arrive_expect_tx.
  void copy_bytes_async(const Slice& to, const Slice& from, Mbarrier barrier, Where at = Where::current());
  // To each block of the mask (by rank in the cluster): one copy each, and that block's barrier.
  void copy_multicast(const Slice& to, const Slice& from, Mbarrier barrier, uint32_t mask, Where at = Where::current());
  // A committed group of its own: shared memory to global.
  void copy_async(const Slice& to, const Slice& from, Where at = Where::current());
  // Belongs to the group that the next commit_group closes.
  void copy_grouped(const Slice& to, const Slice& from, Where at = Where::current());
  void commit_group();
  void wait_group(uint32_t newest = 0, Where at = Where::current());       // all but the newest are complete
  void wait_group_read(uint32_t newest = 0, Where at = Where::current());  // ... have read their sources

  // --- the search
  uint32_t choose(uint32_t n, Where at = Where::current());  // any of 0..n-1
  void assert_that(bool condition, const char* message = "assertion failed", Where at = Where::current());

  // Only in a warpgroup: runs `body` as each of its four warps, which inherit what the warpgroup is ordered after, and
  // joins them. Not nested.
  void fork_warps(const std::function<void(Thread&)>& body, Where at = Where::current());
  void join_warpgroup(Where at = Where::current());  // what a forked warp ends with; fork_warps does it

 private:
  template <class T>
  using Bits = std::conditional_t<
      sizeof(T) == 8, uint64_t,
      std::conditional_t<sizeof(T) == 4, uint32_t, std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;
  template <class T>
  static uint64_t encode(T value) {
    return std::bit_cast<Bits<T>>(value);
  }
  template <class T>
  static T decode(uint64_t bits) {
    return std::bit_cast<T>(static_cast<Bits<T>>(bits));
  }
  template <class T, class F>
  static bool holds(uint64_t value, uint64_t operand) {
    return F{}(decode<T>(value), decode<T>(operand));
  }
  template <class T>
  static constexpr Rmw add() {
    if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? Rmw::kAddF32 : Rmw::kAddF64;
    return Rmw::kAdd;
  }
  template <class T>
  uint64_t word_op(const char* text, OpKind kind, Atomic<T> word, Operation op, Order order, Scope scope, Where at) {
    op.kind = kind;
    op.size = sizeof(T);
    return word_visible(text, word.place, op, order, scope, at);
  }

  Range range(const Place& place, uint32_t bytes) const;
  void read(const Place& from, void* to, uint32_t bytes, Where at);
  void write(const Place& to, const void* from, uint32_t bytes, Where at);
  bool recurs();
  void wait_for_change(const Range& source, const void* value, Where at);
  void plain_steps(OpKind kind, const Range& range, const void* bytes, SiteId site);
  uint64_t word_visible(const char* text, const Place& word, const Operation& op, Order order, Scope scope, Where at);
  void fence(const char* text, FenceKind kind, Scope scope, Order order, Where at);
  void barrier_op(const char* text, OpKind kind, Mbarrier barrier, const Operation& rest, Where at);
  // Arrives at a named, block, cluster or warp barrier; returns the phase that the arrival belongs to.
  uint32_t meet(const char* text, ObjectId barrier, uint32_t count, uint32_t awaited, Scope scope, Where at);
  void wait_phase(const char* text, ObjectId barrier, uint32_t phase, Scope scope, Where at);
  void issue(const char* text, const Slice& to, const Slice& from, const Mbarrier* barrier, int64_t bytes, Where at);
  void wait_group(const char* text, uint32_t newest, bool read, Where at);
  const Seen& visible(const VisibleOp& op, bool has_result);
  const Seen& take(bool has_result);  // posts the state's `op`
  // What every call begins with: false if the fiber is being unwound and the call shall do nothing.
  bool enter(bool has_result);
  SiteId act(const char* text, Where at);  // counts a plain step; ends the thread beyond a limit
  uint32_t lanes() const;
  Scope barrier_scope() const;

  ThreadState& state_;
};

}  // namespace warpcheck
