#include "frontends/ptx/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontends/ptx/decode.h"
#include "frontends/ptx/expectation.h"
#include "frontends/ptx/input_file.h"
#include "frontends/ptx/layout.h"
#include "frontends/ptx/parser.h"

namespace warpcheck::ptx {
namespace {

// Memory and synchronization instructions, those that "37 of 52" counts.
bool counts(const Instruction& instruction, const Code& code) {
  static const std::set<std::string_view> kBases = {"ld", "st", "atom", "red", "bar", "barrier", "mbarrier", "fence", "membar",
                                                    "cp", "wgmma", "tcgen05", "ldmatrix", "stmatrix", "griddepcontrol"};
  if (!kBases.contains(instruction.opcode[0])) return false;
  const auto has = [&](std::string_view name) {
    return std::find(instruction.opcode.begin(), instruction.opcode.end(), name) != instruction.opcode.end();
  };
  return code.space != MemorySpace::kParam && !has("param") && !has("local") && !has("prefetch");
}

class PtxProgram final : public Program {
 public:
  PtxProgram(const LaunchSpec& spec, Module module) : spec_(spec), module_(std::move(module)), entry_(find_entry(module_, spec_)),
                                                      expected_(spec_.buffers) {
    Layout layout = lay_out(module_, entry_, spec_);
    model_ = std::move(layout.model);
    kernel_.shape = layout.shape;
    kernel_.params = std::move(layout.params);
    kernel_.local_bytes = layout.local_bytes;
    kernel_.shared_bytes = layout.shared_bytes;
    kernel_.dynamic_shared = spec_.dynamic_shared;
    kernel_.zeros = layout.zeros;
    kernel_.global_regions = layout.global_regions;
    Decoder(module_, entry_, layout.symbols, kernel_).run();
  }

  std::unique_ptr<Machine> make_machine() const override {
    return std::make_unique<GpuMachine>(model_, std::make_unique<Interpreter>(kernel_, expected_), kernel_.code.size());
  }

  std::string name() const override { return std::string(entry_.name); }

  // Clusters meet in global memory only, unless one may take over another's work or awaits another grid.
  uint32_t parts() const override {
    const auto reaches_out = [](const Instruction& i) {
      return i.opcode[0] == "clusterlaunchcontrol" || i.opcode[0] == "griddepcontrol";
    };
    const bool alone = std::any_of(entry_.instructions.begin(), entry_.instructions.end(), reaches_out);
    return alone || !spec_.before.empty() ? 1 : model_.blocks / std::max(1U, model_.blocks_per_cluster);
  }

  Site site(SiteId id) const override {
    if (index(id) < entry_.instructions.size()) return site_of(module_, entry_.instructions[index(id)]);
    return {"exit", {module_.file, entry_.line}, {}};
  }

  std::vector<SiteId> instructions() const override {
    std::vector<SiteId> made;
    for (uint32_t i = 0; i < entry_.instructions.size(); ++i) {
      if (counts(entry_.instructions[i], kernel_.code[i])) made.push_back(SiteId{i});
    }
    return made;
  }

  std::vector<std::string> assumptions() const override {
    std::set<std::string> names, approximate;
    for (uint32_t i = 0; i < entry_.instructions.size(); ++i) {
      if (kernel_.code[i].opaque) names.insert(kernel_.opcodes[i]);
      if (kernel_.code[i].approximate) approximate.insert(kernel_.opcodes[i]);
    }
    std::vector<std::string> made;
    const bool float_sums = std::any_of(kernel_.code.begin(), kernel_.code.end(), [](const Code& code) {
      return code.rmw == Rmw::kAddF32 || code.rmw == Rmw::kAddF64 || code.rmw == Rmw::kAddF16 || code.rmw == Rmw::kAddBf16;
    });
    if (float_sums) made.emplace_back("float sums in memory are taken in the order met");
    for (const std::string& opcode : approximate) made.push_back(fmt::format("float values of {} are the host's", opcode));
    for (const std::string& opcode : names) made.push_back(fmt::format("float values of {} are opaque", opcode));
    return made;
  }

 private:
  const LaunchSpec spec_;
  const Module module_;
  const Function& entry_;
  const ExpectedBuffers expected_;
  LaunchModel model_;
  Kernel kernel_;
};

void refuse_what_is_missing(const LaunchSpec& spec) {
  if (!spec.before.empty()) throw InputError(spec.origin.file, spec.origin.line, "found [[before]], expected a launch without (not supported yet)");
  if (spec.printed) throw InputError(spec.origin.file, spec.origin.line, "found printed, expected a launch without (not supported yet)");
}

}  // namespace

std::unique_ptr<Program> make_program(const LaunchSpec& spec, const ProgramOptions& options) {
  if (options.plain_steps) throw InputError("found --plain-steps, expected a kernel in C++ (not supported for PTX)");
  return make_program(spec, read_input_file(spec.ptx, "PTX file"), spec.ptx);
}

std::unique_ptr<Program> make_program(const LaunchSpec& spec, std::string text, const std::string& file) {
  refuse_what_is_missing(spec);
  return std::make_unique<PtxProgram>(spec, parse(std::move(text), file));
}

}  // namespace warpcheck::ptx
