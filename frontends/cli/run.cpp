#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <new>

#include "frontends/cli/commands.h"
#include "model/machine.h"

namespace warpcheck::cli {
namespace {

struct Execute {
  int operator()(const CheckOptions& options) const { return check(options); }
  int operator()(const ReplayOptions& options) const { return replay_counterexample(options); }
  int operator()(const GraphOptions& options) const { return draw_counterexample(options); }
  int operator()(const Answer& answer) const {
    fmt::print("{}", answer.text);
    return kExitVerified;
  }
};

// One line without control characters, whatever a file or its name contained.
std::string printable(std::string text) {
  for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return text;
}

}  // namespace

int run(int argc, const char* const* argv) {
  try {
    return std::visit(Execute{}, parse_command_line(argc, argv));
  } catch (const InputError& error) {
    fmt::print(stderr, "warpcheck: {}\n", printable(error.what()));
    return kExitBadInput;
  } catch (const std::filesystem::filesystem_error& error) {
    fmt::print(stderr, "warpcheck: {}\n", printable(error.what()));
    return kExitBadInput;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "warpcheck: not enough memory for this launch\n");
    return kExitIncomplete;
  }
}

}  // namespace warpcheck::cli
