#include "frontends/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace warpcheck::cli {

ProgressLine::ProgressLine(std::string kernel) : kernel_(std::move(kernel)), terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

std::function<void(const Progress&)> ProgressLine::callback() {
  if (!terminal_) return {};
  return [this](const Progress& progress) { show(progress); };
}

void ProgressLine::show(const Progress& progress) {
  shown_ = true;
  const double rate = progress.seconds > 0 ? static_cast<double>(progress.executions) / progress.seconds : 0;
  fmt::print(stderr, "\r\033[K{}: {} executions, {:.0f} a second, depth {}, {:.0f} s (Ctrl-C ends with what is known)",
             kernel_, progress.executions, rate, progress.depth, progress.seconds);
  std::fflush(stderr);
}

}  // namespace warpcheck::cli
