// explorer_oracle [--programs=N] [--seed=S] [--flavour=F] [--workers=N] [--no-laws]: N random programs of each flavour, every reduction
// against full enumeration. The first that disagrees is shrunk and printed.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "tests/explorer/oracle.h"

namespace warpcheck::toy {
namespace {

struct Arguments {
  uint64_t programs = 500, seed = 1;
  int flavour = -1;
  OracleOptions oracle;
};

bool take(const std::string& argument, const std::string& key, uint64_t& value) {
  if (argument.rfind(key, 0) != 0) return false;
  value = std::strtoull(argument.c_str() + key.size(), nullptr, 10);
  return true;
}

int run(const Arguments& arguments) {
  for (unsigned f = 0; f < kFlavours; ++f) {
    if (arguments.flavour >= 0 && static_cast<unsigned>(arguments.flavour) != f) continue;
    const Flavour flavour = static_cast<Flavour>(f);
    OracleStatistics s;
    for (uint64_t i = 0; i < arguments.programs; ++i) {
      const uint64_t seed = arguments.seed + i;
      const RandomProgram program = random_program(flavour, seed);
      if (!disagreement(program, arguments.oracle, &s)) continue;
      const RandomProgram small = shrink(program, arguments.oracle);
      fmt::print("{}, seed {}:\n{}{}\n", name(flavour), seed, small.to_string(),
                 disagreement(small, arguments.oracle).value_or("?"));
      return 1;
    }
    fmt::print("{}: {} programs agree ({} too large), {} executions, {} traces; blocked: source {}, sleep {}, tasks {}, "
               "{} workers {}\n",
               name(flavour), s.programs, s.skipped, s.executions, s.traces, s.source_blocked, s.sleep_blocked,
               s.tasks_blocked, arguments.oracle.workers, s.workers_blocked);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace warpcheck::toy

int main(int argc, char** argv) {
  warpcheck::toy::Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    uint64_t flavour = 0, workers = 0;
    if (warpcheck::toy::take(argument, "--programs=", arguments.programs)) continue;
    if (warpcheck::toy::take(argument, "--seed=", arguments.seed)) continue;
    if (warpcheck::toy::take(argument, "--workers=", workers)) {
      arguments.oracle.workers = static_cast<unsigned>(workers);
    } else if (warpcheck::toy::take(argument, "--flavour=", flavour)) {
      arguments.flavour = static_cast<int>(flavour);
    } else if (argument == "--no-laws") {
      arguments.oracle.laws = false;
    } else {
      fmt::print("unknown argument {}\n", argument);
      return 2;
    }
  }
  return warpcheck::toy::run(arguments);
}
