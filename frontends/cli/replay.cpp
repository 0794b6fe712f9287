#include <fmt/format.h>

#include <filesystem>

#include "frontends/cli/commands.h"
#include "frontends/cli/counterexample.h"
#include "frontends/cli/retell.h"
#include "visualize/graph.h"
#include "visualize/report.h"

namespace warpcheck::cli {
namespace {

// The kernel of a counterexample, refused when it or its launch has changed.
Kernel load_same(const std::string& path, const Counterexample& counterexample) {
  Kernel kernel = load_kernel(counterexample.request);
  const auto refuse = [&](const std::string& what, const std::string& now, const std::string& then) {
    throw InputError(path, 0, fmt::format("found {} (hash {}), expected the one that was checked (hash {})", what, now,
                                          then));
  };
  if (kernel.ptx_hash != counterexample.ptx_hash) {
    refuse("another kernel in " + kernel.spec.ptx, kernel.ptx_hash, counterexample.ptx_hash);
  }
  if (kernel.launch_hash != counterexample.launch_hash) {
    const std::string& launch = kernel.request.launch;
    refuse(launch.empty() ? "another launch" : "another launch in " + launch, kernel.launch_hash,
           counterexample.launch_hash);
  }
  return kernel;
}

struct Retold {
  Counterexample counterexample;
  Kernel kernel;
  Recording recording;
};

Retold retell_file(const std::string& path) {
  Counterexample counterexample = read_counterexample(path);
  Kernel kernel = load_same(path, counterexample);
  try {
    Recording recording = retell(kernel, counterexample.schedule, counterexample.finding).recording;
    return {std::move(counterexample), std::move(kernel), std::move(recording)};
  } catch (const InputError& error) {
    throw InputError(path, 0, error.what());
  }
}

}  // namespace

int replay_counterexample(const ReplayOptions& options) {
  const Retold retold = retell_file(options.counterexample);
  const Counterexample& c = retold.counterexample;
  const std::filesystem::path path = std::filesystem::path(options.counterexample).lexically_normal();
  std::filesystem::path graph = path;
  graph.replace_extension(".svg");
  fmt::print("{}", finding_report(retold.recording, retold.kernel.sources,
                                  {c.execution, c.executions, c.violation, path.string(), graph.string()}));
  return c.violation ? kExitViolation : kExitVerified;
}

int draw_counterexample(const GraphOptions& options) {
  const Retold retold = retell_file(options.counterexample);
  write_graph(retold.recording, retold.kernel.sources, options.output);
  return kExitVerified;
}

}  // namespace warpcheck::cli
