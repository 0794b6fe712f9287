#include "kernel.h"

#include <cstring>

#include "frontends/ptx/launch_file.h"
#include "model/gpu_machine.h"

namespace warpcheck::ptx::testing {

std::string entry(const std::string& body) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .u64 out)\n{\n"
         ".reg .pred %p<20>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<20>;\n" +
         body + "\n}\n";
}

LaunchSpec launch(uint32_t threads, uint64_t count) {
  LaunchSpec spec;
  spec.block = {threads, 1, 1};
  BufferSpec out;
  out.name = "out";
  out.type = {"u32", 4, false};
  out.count = count;
  out.init.elements.assign(count, 0);
  spec.buffers = {out};
  ArgSpec arg;
  arg.name = arg.buffer = "out";
  spec.args = {arg};
  spec.origin = {"k.toml", 1};
  return spec;
}

ExploreResult check(const std::string& body, const LaunchSpec& spec) {
  const auto program = make_program(spec, entry(body), "k.ptx");
  return explore(*program, {.keep_going = true, .max_executions = 100000});
}

std::vector<uint32_t> result(const std::string& body, uint32_t threads, uint64_t count) {
  const auto program = make_program(launch(threads, count), entry(body), "k.ptx");
  std::vector<uint32_t> made(count);
  ExploreOptions options;
  options.on_execution = [&](const ExecutionView& view) {
    const auto& machine = dynamic_cast<const GpuMachine&>(view.machine);
    std::memcpy(made.data(), machine.bytes(RegionId{0}).data(), count * 4);
  };
  explore(*program, options);
  return made;
}

ExploreResult check_kernel(const std::string& kernel, const std::string& variant) {
  const std::string folder = PTX_DATA "/";
  const auto program = make_program(read_launch_file(folder + kernel + ".toml", folder + kernel + "." + variant + ".ptx"));
  return explore(*program, {.keep_going = true, .max_seconds = 60});
}

std::vector<Finding> errors(const ExploreResult& result, FindingKind kind) {
  std::vector<Finding> made;
  for (const FoundFinding& found : result.findings) {
    if (found.finding.kind == kind && !found.finding.strict) made.push_back(found.finding);
  }
  return made;
}

std::string describe(const ExploreResult& result) {
  std::string text = name(result.verdict);
  for (const FoundFinding& found : result.findings) {
    text += std::string("\n  ") + name(found.finding.kind) + (found.finding.strict ? " (strict) " : " ") + name(found.finding.cause) + " " +
            found.finding.object + ": " + found.finding.message;
  }
  return text;
}

}  // namespace warpcheck::ptx::testing
