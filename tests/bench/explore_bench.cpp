// How fast executions of the example ring run: steps a second with the state of every interleaving, and one whole check.
#include <benchmark/benchmark.h>

#include "explorer/explore.h"
#include "frontends/ptx/launch_file.h"
#include "frontends/ptx/program.h"

namespace {

std::unique_ptr<warpcheck::Program> ring() {
  return warpcheck::ptx::make_program(warpcheck::ptx::read_launch_file(WARPCHECK_EXAMPLES "/ring/ring.toml"));
}

void every_interleaving(benchmark::State& state) {
  const auto program = ring();
  uint64_t executions = 0, steps = 0;
  for (auto _ : state) {
    const warpcheck::ExploreResult result = warpcheck::explore(
        *program, {.reduction = warpcheck::Reduction::kNone, .workers = 1, .max_executions = 2000});
    executions += result.executions;
    steps += result.executions * result.max_depth;
  }
  state.counters["executions"] = benchmark::Counter(static_cast<double>(executions), benchmark::Counter::kIsRate);
  state.counters["steps"] = benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
}
BENCHMARK(every_interleaving)->Unit(benchmark::kMillisecond);

void whole_check(benchmark::State& state) {
  for (auto _ : state) {
    const auto program = ring();
    benchmark::DoNotOptimize(warpcheck::explore(*program, {.workers = 1}).executions);
  }
}
BENCHMARK(whole_check)->Unit(benchmark::kMillisecond);

}  // namespace
