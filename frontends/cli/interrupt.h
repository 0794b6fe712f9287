// SIGINT and SIGTERM end a search with what is known. The second one ends the process at once.
#pragma once

#include <atomic>

namespace warpcheck::cli {

// Installs the handlers; the flag becomes true when a signal comes. Process-wide, once.
const std::atomic<bool>& watch_for_interrupts();

}  // namespace warpcheck::cli
