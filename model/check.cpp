#include "model/check.h"

#include <cstdio>
#include <cstdlib>

namespace warpcheck {
namespace {
thread_local const char* (*describe_context)(void*) = nullptr;
thread_local void* context_argument = nullptr;
}  // namespace

void set_check_context(const char* (*describe)(void*), void* context) {
  describe_context = describe;
  context_argument = context;
}

void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "warpcheck: internal error: %s does not hold (%s:%d)\n", expression, file, line);
  if (describe_context != nullptr) std::fprintf(stderr, "schedule: %s\n", describe_context(context_argument));
  std::abort();
}

}  // namespace warpcheck
