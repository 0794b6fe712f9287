// A fiber: a stack of its own on which a kernel thread runs until it suspends itself. The one place that switches
// stacks (Boost.Context's assembly), and so the one with the sanitizers' annotations.
//
// States: idle -> start() -> active -> the entry returns -> idle. A stack is mapped once, used by one run after
// another, and kept for the next fiber of the OS thread.
//
// Abandoning. A run may end while a fiber is suspended (a deadlock, a bound). unwind() resumes it one last time and
// each later suspension point decides by `interrupted`: it throws Unwind, so that objects on the stack are destroyed;
// but
//  - while another exception is on its way (a destructor calls in) it returns quietly;
//  - an operation without a result returns quietly too, for it may stand in a destructor that ran normally, from which
//    nothing may be thrown; code that goes on comes to one that throws, or to its end;
//  - code that swallows Unwind again and again is left behind on its stack, as is code that lets it escape from a
//    noexcept function: those leak what they own.
//
// Polls. `remember` keeps a copy of the used part of the stack of a fiber that is about to suspend, `recurs` compares:
// equal bytes (the registers that survive a call lie among them) mean that the code is in the same state as then. They
// do not see the heap, statics or files: a kernel that counts its polls there must not be judged by it.
//
// Not thread-safe: a fiber belongs to the OS thread that first starts it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpcheck {

class Fiber {
 public:
  // Thrown at the suspension point of an abandoned fiber. Kernel code that catches (...) should rethrow, but need not.
  struct Unwind {};
  using Entry = void (*)(void* argument);

  explicit Fiber(size_t stack_bytes = kDefaultStackBytes);
  ~Fiber();  // must be idle
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void start(Entry entry, void* argument);  // only when idle; runs nothing yet
  void resume();                            // from outside, when active: runs to the next suspend or the end
  bool active() const { return active_; }
  void unwind();  // from outside: idle afterwards

  // From inside: back to whoever resumed. Not while unwinding.
  void suspend();
  bool unwinding() const { return unwinding_; }
  // From inside, while unwinding, instead of suspending: throws Unwind or returns (see above).
  void interrupted(bool has_result);

  [[noreturn]] void leave_behind();  // from inside: the fiber is idle; what lies on its stack is never destroyed

  // From outside, after a suspend.
  void remember();
  bool recurs();

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  static constexpr size_t kDefaultStackBytes = 512 << 10;
#else
  static constexpr size_t kDefaultStackBytes = 128 << 10;
#endif

 private:
  struct ExceptionState {  // __cxa_eh_globals: exceptions being handled belong to a stack
    void* caught = nullptr;
    unsigned uncaught = 0;
  };

  static void run(void* context);
  void leave(bool ended);
  static void on_terminate();

  uint8_t* mapping_ = nullptr;
  size_t stack_bytes_ = 0;
  uint8_t* top_ = nullptr;
  void* inside_ = nullptr;   // the fiber's saved context: its stack pointer
  void* outside_ = nullptr;  // the resumer's
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  ExceptionState exceptions_;
  bool active_ = false, unwinding_ = false;
  unsigned quiet_ = 0, thrown_ = 0;
  std::vector<uint64_t> copy_;
  size_t copied_ = 0;
  // Sanitizers.
  void* fake_stack_ = nullptr;
  void* outside_fake_stack_ = nullptr;
  const void* outside_bottom_ = nullptr;
  size_t outside_bytes_ = 0;
  void* tsan_fiber_ = nullptr;
  void* outside_tsan_ = nullptr;
};

}  // namespace warpcheck
