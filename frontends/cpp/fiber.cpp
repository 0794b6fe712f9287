#include "frontends/cpp/fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <cstring>
#include <exception>
#include <new>

#include "model/check.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

// Functions that a run enters and never leaves: instrumented, each would stay on the fiber's shadow stack for good.
#if defined(__SANITIZE_THREAD__)
#define WITHOUT_FRAME __attribute__((no_sanitize("thread"), noinline))
#else
#define WITHOUT_FRAME
#endif

namespace warpcheck {

namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

constexpr unsigned kQuietReturns = 10'000;  // while unwinding, operations without a result
constexpr unsigned kThrows = 100;           // Unwinds that the kernel swallows before it is left behind

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Stacks of the usual size that no fiber of this OS thread needs now: machines come and go, mappings stay.
class StackPool {
 public:
  ~StackPool() {
    for (uint8_t* stack : free_) munmap(stack, Fiber::kDefaultStackBytes + page_bytes());
    free_.clear();
    open_ = false;
  }
  uint8_t* take() {
    if (free_.empty()) return nullptr;
    uint8_t* stack = free_.back();
    free_.pop_back();
    return stack;
  }
  bool give(uint8_t* stack) {
    if (!open_ || free_.size() >= kKept) return false;
    free_.push_back(stack);
    return true;
  }

 private:
  static constexpr size_t kKept = 256;
  std::vector<uint8_t*> free_;
  bool open_ = true;
};

thread_local StackPool stack_pool;

uint8_t* map_stack(size_t bytes) {
  void* mapping = mmap(nullptr, bytes + page_bytes(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  CHECK(mprotect(mapping, page_bytes(), PROT_NONE) == 0);  // an overflow faults at once
  return static_cast<uint8_t*>(mapping);
}

thread_local Fiber* unwound = nullptr;  // for the terminate handler
std::terminate_handler previous_terminate = nullptr;

}  // namespace

Fiber::Fiber(size_t stack_bytes) : stack_bytes_((stack_bytes + page_bytes() - 1) / page_bytes() * page_bytes()) {
  if (stack_bytes_ == kDefaultStackBytes) mapping_ = stack_pool.take();
  if (mapping_ == nullptr) mapping_ = map_stack(stack_bytes_);
  top_ = mapping_ + page_bytes() + stack_bytes_;
#if defined(__SANITIZE_THREAD__)
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
  CHECK(!active_);
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(tsan_fiber_);
#endif
  if (stack_bytes_ == kDefaultStackBytes && stack_pool.give(mapping_)) return;
  munmap(mapping_, stack_bytes_ + page_bytes());
}

void Fiber::start(Entry entry, void* argument) {
  CHECK(!active_);
  entry_ = entry;
  argument_ = argument;
  active_ = true;
  unwinding_ = false;
  quiet_ = thrown_ = 0;
  exceptions_ = {};
  copied_ = 0;
  fake_stack_ = nullptr;
  inside_ = make_fcontext(top_, stack_bytes_, [](transfer_t from) WITHOUT_FRAME {
    auto* fiber = static_cast<Fiber*>(from.data);
    fiber->outside_ = from.fctx;
    run(fiber);
  });
}

WITHOUT_FRAME void Fiber::run(void* context) {
  auto* fiber = static_cast<Fiber*>(context);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &fiber->outside_bottom_, &fiber->outside_bytes_);
#endif
  try {
    if (!fiber->unwinding_) fiber->entry_(fiber->argument_);
  } catch (const Unwind&) {  // the entry's own handlers come first; nothing else may pass them
  }
  fiber->leave(true);
}

void Fiber::resume() {
  ExceptionState& current = *reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  const ExceptionState mine = current;
  current = exceptions_;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&outside_fake_stack_, top_ - stack_bytes_, stack_bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
  outside_tsan_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_fiber_, 0);
#endif
  inside_ = jump_fcontext(inside_, this).fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(outside_fake_stack_, nullptr, nullptr);
#endif
  exceptions_ = current;
  current = mine;
}

// Back to the resumer. With `ended` it does not come back.
WITHOUT_FRAME void Fiber::leave(bool ended) {
  if (ended) active_ = false;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(ended ? nullptr : &fake_stack_, outside_bottom_, outside_bytes_);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(outside_tsan_, 0);
#endif
  outside_ = jump_fcontext(outside_, nullptr).fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack_, &outside_bottom_, &outside_bytes_);
#endif
}

void Fiber::suspend() { leave(false); }

void Fiber::unwind() {
  if (!active_) return;
  static const bool installed = [] {
    previous_terminate = std::set_terminate(on_terminate);
    return true;
  }();
  CHECK(installed);
  unwinding_ = true;
  unwound = this;
  resume();
  unwound = nullptr;
  CHECK(!active_);
  unwinding_ = false;
}

void Fiber::interrupted(bool has_result) {
  if (std::uncaught_exceptions() > 0) return;
  if (!has_result && ++quiet_ <= kQuietReturns) return;
  if (++thrown_ > kThrows) leave_behind();
  throw Unwind{};
}

void Fiber::leave_behind() {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(top_ - stack_bytes_, stack_bytes_);
#endif
  leave(true);
  std::abort();
}

// Unwind met a noexcept function: the rest of this stack cannot be unwound, and need not be.
void Fiber::on_terminate() {
  if (unwound != nullptr) {
    abi::__cxa_end_catch();  // frees the Unwind
    unwound->leave_behind();
  }
  if (previous_terminate != nullptr) previous_terminate();
  std::abort();
}

namespace {

// Word by word where a sanitizer would take frames' red zones for errors.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("address", "thread"))) bool copy_or_compare(uint64_t* to, const uint64_t* from, size_t bytes,
                                                                       bool copy) {
  for (size_t i = 0; i < bytes / sizeof *from; ++i) {
    const volatile uint64_t word = from[i];
    if (copy) to[i] = word;
    if (to[i] != word) return false;
  }
  return true;
}
#else
bool copy_or_compare(uint64_t* to, const uint64_t* from, size_t bytes, bool copy) {
  if (!copy) return std::memcmp(to, from, bytes) == 0;
  std::memcpy(to, from, bytes);
  return true;
}
#endif

}  // namespace

void Fiber::remember() {
  copied_ = static_cast<size_t>(top_ - static_cast<const uint8_t*>(inside_));
  if (copy_.size() < copied_ / sizeof(uint64_t)) copy_.resize(copied_ / sizeof(uint64_t));
  copy_or_compare(copy_.data(), static_cast<const uint64_t*>(inside_), copied_, true);
}

bool Fiber::recurs() {
  return copied_ == static_cast<size_t>(top_ - static_cast<const uint8_t*>(inside_)) &&
         copy_or_compare(copy_.data(), static_cast<const uint64_t*>(inside_), copied_, false);
}

}  // namespace warpcheck
