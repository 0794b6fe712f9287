// CHECK: our own bugs stop the program with the expression; never used for a fault of the user's kernel or input.
#pragma once

namespace warpcheck {

[[noreturn]] void check_failed(const char* expression, const char* file, int line);

// Printed by check_failed, when set: the schedule of the run in progress on this OS thread.
void set_check_context(const char* (*describe)(void*), void* context);

}  // namespace warpcheck

#define CHECK(expression) \
  ((expression) ? static_cast<void>(0) : ::warpcheck::check_failed(#expression, __FILE__, __LINE__))
