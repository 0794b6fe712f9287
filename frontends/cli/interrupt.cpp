#include "frontends/cli/interrupt.h"

#include <csignal>

namespace warpcheck::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void handle(int) { interrupted.store(true); }

}  // namespace

const std::atomic<bool>& watch_for_interrupts() {
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return interrupted;
}

}  // namespace warpcheck::cli
