#include "frontends/ptx/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "frontends/ptx/address_map.h"
#include "frontends/ptx/tensor_map.h"
#include "model/machine.h"
#include "model/tensor_memory.h"

namespace warpcheck::ptx {
namespace {

constexpr uint64_t kGuard = 16;           // between variables, so that an access beyond one is noticed
constexpr uint64_t kMostShared = 1 << 22;  // of one block
constexpr uint64_t kMostThreads = 1 << 18;
constexpr uint64_t kMostMemory = uint64_t{1} << 30;

uint64_t align_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

[[noreturn]] void bad(const Origin& origin, const std::string& text) { throw InputError(origin.file, origin.line, text); }

std::string triple(const std::array<uint32_t, 3>& sizes) { return fmt::format("[{}, {}, {}]", sizes[0], sizes[1], sizes[2]); }

void collect_names(const Operand& operand, std::unordered_set<std::string_view>& names) {
  if (operand.kind == OperandKind::kName) names.insert(operand.name);
  for (const Operand& part : operand.parts) collect_names(part, names);
}

// What a variable is counted in. nvcc declares arrays as bytes; their alignment tells the element, but for arrays that ask
// for more than an element needs: those are taken for words.
uint32_t element_of(const PtxVariable& variable, uint64_t bytes) {
  if (variable.element_bytes != 1 || variable.align == 1) return variable.element_bytes;
  const uint64_t guess = variable.align <= 8 ? variable.align : variable.unsized ? 1 : 4;
  return bytes % guess == 0 ? static_cast<uint32_t>(guess) : 1;
}

class Builder {
 public:
  Builder(const Module& module, const Function& entry, const LaunchSpec& spec) : module_(module), entry_(entry), spec_(spec) {}

  Layout build() {
    find_shape();
    find_used_names();
    for (const BufferSpec& buffer : spec_.buffers) add_buffer(buffer);
    for (const PtxVariable& variable : module_.variables) {
      if (is_global(variable)) add_module_variable(variable);
    }
    check_symbols();
    fill_addresses();
    made_.zeros = RegionId{static_cast<uint32_t>(made_.model.regions.size())};
    add_region("zeros", 16, 1, spec_.origin).initial.assign(16, 0);
    made_.global_regions = static_cast<uint32_t>(made_.model.regions.size());
    add_shared();
    add_tensor_memory();
    add_local();
    add_parameters();
    add_threads();
    return std::move(made_);
  }

 private:
  void find_shape() {
    Shape& shape = made_.shape;
    shape.grid = spec_.grid;
    shape.block = spec_.block;
    shape.cluster = spec_.cluster.value_or(entry_.cluster.value_or(std::array<uint32_t, 3>{1, 1, 1}));
    shape.explicit_cluster = spec_.cluster.has_value() || entry_.cluster.has_value() || entry_.explicit_cluster;
    for (const auto& sizes : {shape.grid, shape.block, shape.cluster}) {
      if (sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0) bad(spec_.origin, "found a size of 0, expected at least 1");
    }
    if (entry_.required_block && *entry_.required_block != shape.block) {
      bad(spec_.origin, fmt::format("found block = {}, expected {} (.reqntid of {})", triple(shape.block), triple(*entry_.required_block), entry_.name));
    }
    if (entry_.cluster && *entry_.cluster != shape.cluster) {
      bad(spec_.origin, fmt::format("found cluster = {}, expected {} (.reqnctapercluster of {})", triple(shape.cluster), triple(*entry_.cluster), entry_.name));
    }
    const uint64_t threads = uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
    if (threads > 1024) bad(spec_.origin, fmt::format("found {} threads a block, expected at most 1024", threads));
    if (entry_.largest_block) {
      const auto& most = *entry_.largest_block;
      const uint64_t limit = uint64_t{most[0]} * most[1] * most[2];
      if (threads > limit) bad(spec_.origin, fmt::format("found {} threads a block, expected at most {} (.maxntid of {})", threads, limit, entry_.name));
    }
    uint64_t blocks = 1;
    for (size_t i = 0; i < 3; ++i) {
      blocks *= shape.grid[i];
      if (shape.grid[i] % shape.cluster[i] != 0) {
        bad(spec_.origin, fmt::format("found grid = {}, expected a multiple of the cluster {}", triple(shape.grid), triple(shape.cluster)));
      }
      if (blocks * threads > kMostThreads) bad(spec_.origin, fmt::format("found more than {} threads, expected fewer", kMostThreads));
    }
    const uint64_t cluster = uint64_t{shape.cluster[0]} * shape.cluster[1] * shape.cluster[2];
    if (cluster > 16) bad(spec_.origin, fmt::format("found {} blocks a cluster, expected at most 16", cluster));
    made_.model.blocks = static_cast<uint32_t>(blocks);
    made_.model.blocks_per_cluster = static_cast<uint32_t>(cluster);
  }

  void find_used_names() {
    for (const Instruction& instruction : entry_.instructions) {
      for (const Operand& operand : instruction.operands) collect_names(operand, used_);
    }
    for (const SymbolSpec& symbol : spec_.symbols) used_.insert(symbol.name);
    // Variables whose contents name others use those.
    for (bool grew = true; grew;) {
      grew = false;
      for (const PtxVariable& variable : module_.variables) {
        if (!used_.contains(variable.name)) continue;
        for (const AddressOf& address : variable.addresses) grew |= used_.insert(address.name).second;
      }
    }
  }

  bool is_global(const PtxVariable& variable) const {
    return (variable.space == "global" || variable.space == "const") && used_.contains(variable.name);
  }

  RegionSpec& add_region(const std::string& name, uint64_t bytes, uint32_t element_bytes, const Origin& origin) {
    memory_ += bytes;
    if (memory_ > kMostMemory) bad(origin, fmt::format("found more than {} bytes of memory, expected fewer", kMostMemory));
    RegionSpec& region = made_.model.regions.emplace_back();
    region.name = name;
    region.bytes = bytes;
    region.variables = {{name, 0, bytes, element_bytes}};
    return region;
  }

  static void fill(RegionSpec& region, const Contents& contents, uint32_t element_bytes) {
    region.initial.resize(contents.elements.size() * element_bytes);
    region.uninitialized.assign(region.initial.size(), false);
    for (size_t i = 0; i < contents.elements.size(); ++i) {
      const uint64_t value = contents.elements[i].value_or(0);
      std::memcpy(&region.initial[i * element_bytes], &value, std::min<uint32_t>(element_bytes, 8));
      if (contents.elements[i]) continue;
      for (uint32_t b = 0; b < element_bytes; ++b) region.uninitialized[i * element_bytes + b] = true;
    }
  }

  void add_buffer(const BufferSpec& buffer) {
    buffers_[buffer.name] = buffer_address(static_cast<uint32_t>(made_.model.regions.size()));
    RegionSpec& region = add_region(buffer.name, buffer.count * buffer.type.bytes, buffer.type.bytes, buffer.origin);
    fill(region, buffer.init, buffer.type.bytes);
  }

  uint64_t buffer(const std::string& name, const Origin& origin) const {
    const auto found = buffers_.find(name);
    if (found == buffers_.end()) bad(origin, fmt::format("found {}, expected the name of a buffer", name));
    return found->second;
  }

  static void put(RegionSpec& region, uint64_t at, const void* bytes, size_t count) {
    if (region.initial.size() < at + count) region.initial.resize(at + count);
    const size_t known = region.uninitialized.size();
    if (known < at) region.uninitialized.resize(at, true);
    if (region.uninitialized.size() < at + count) region.uninitialized.resize(at + count, false);
    std::fill_n(region.uninitialized.begin() + static_cast<std::ptrdiff_t>(at), count, false);
    std::memcpy(&region.initial[at], bytes, count);
  }

  // Once all addresses are known.
  void fill_addresses() {
    for (size_t i = 0; i < spec_.buffers.size(); ++i) {
      const BufferSpec& buffer = spec_.buffers[i];
      for (const FieldSpec& field : buffer.fields) {
        RegionSpec& region = made_.model.regions[i];
        const uint64_t address = field.address ? this->buffer(*field.address, buffer.origin) + field.offset : 0;
        const size_t count = field.address ? 8 : field.bytes.size();
        if (field.at > region.bytes || count > region.bytes - field.at) {
          bad(buffer.origin, fmt::format("found a field at {} of {} bytes, expected it inside {} of {} bytes", field.at, count, buffer.name, region.bytes));
        }
        put(region, field.at, field.address ? static_cast<const void*>(&address) : field.bytes.data(), count);
      }
    }
    for (const auto& [variable, number] : module_regions_) {
      for (const AddressOf& address : variable->addresses) {
        const auto symbol = made_.symbols.find(address.name);
        const uint64_t value = symbol == made_.symbols.end() ? 0 : symbol->second.address + static_cast<uint64_t>(address.addend);
        put(made_.model.regions[number], address.at, &value, std::min<uint32_t>(address.bytes, 8));
      }
    }
  }

  void add_module_variable(const PtxVariable& variable) {
    const auto number = static_cast<uint32_t>(made_.model.regions.size());
    if (made_.symbols.contains(variable.name)) return;  // a declaration before the definition
    RegionSpec& region = add_region(short_name(variable.name), variable.bytes, variable.element_bytes, {module_.file, variable.line});
    region.initial = variable.initial;
    region.initial.resize(variable.bytes);  // module variables start as zero
    made_.symbols[variable.name] = {buffer_address(number), variable.space == "const" ? MemorySpace::kConst : MemorySpace::kGlobal};
    module_regions_.emplace_back(&variable, number);
    for (const SymbolSpec& symbol : spec_.symbols) {
      if (symbol.name != variable.name && symbol.name != short_name(variable.name)) continue;
      const uint32_t bytes = symbol.type ? symbol.type->bytes : variable.element_bytes;
      if (symbol.init.elements.size() * bytes > variable.bytes) {
        bad(symbol.origin, fmt::format("found {} elements of {} bytes, expected at most {} bytes ({} in the PTX)", symbol.init.elements.size(), bytes, variable.bytes, symbol.name));
      }
      fill(region, symbol.init, bytes);
      region.initial.resize(variable.bytes);
    }
  }

  void check_symbols() const {
    for (const SymbolSpec& symbol : spec_.symbols) {
      const bool known = std::any_of(module_regions_.begin(), module_regions_.end(), [&](const auto& entry) {
        return entry.first->name == symbol.name || short_name(entry.first->name) == symbol.name;
      });
      if (!known) bad(symbol.origin, fmt::format("found {}, expected a .global or .const variable of the PTX", symbol.name));
    }
  }

  void add_shared() {
    RegionSpec shared;
    shared.name = "shared memory";
    shared.space = Space::kShared;
    uint64_t at = kSharedStart;
    uint64_t dynamic_align = 16;
    std::vector<const PtxVariable*> dynamic;
    const auto place = [&](const PtxVariable& variable) {
      if (variable.space != "shared") return;
      if (variable.unsized) {
        dynamic.push_back(&variable);
        dynamic_align = std::max(dynamic_align, variable.align);
        return;
      }
      if (!made_.symbols.emplace(variable.name, Symbol{}).second) return;
      at = align_up(at, std::max<uint64_t>(variable.align, 16));
      made_.symbols[variable.name] = {at, MemorySpace::kShared};
      shared.variables.push_back({short_name(variable.name), at, variable.bytes, element_of(variable, variable.bytes)});
      at += variable.bytes + kGuard;
      if (at > kMostShared) bad({module_.file, variable.line}, fmt::format("found more than {} bytes of shared memory, expected fewer", kMostShared));
    };
    for (const PtxVariable& variable : module_.variables) {
      if (used_.contains(variable.name)) place(variable);
    }
    for (const PtxVariable& variable : entry_.variables) place(variable);
    if (spec_.dynamic_shared > kMostShared) bad(spec_.origin, fmt::format("found {} bytes of dynamic shared memory, expected at most {}", spec_.dynamic_shared, kMostShared));
    at = align_up(at, dynamic_align);
    for (const PtxVariable* variable : dynamic) made_.symbols[variable->name] = {at, MemorySpace::kShared};
    if (spec_.dynamic_shared > 0 || !dynamic.empty()) {
      const uint32_t element = dynamic.empty() ? 1 : element_of(*dynamic[0], spec_.dynamic_shared);
      shared.variables.push_back({dynamic.empty() ? "dynamic shared memory" : short_name(dynamic[0]->name), at, spec_.dynamic_shared, element});
      at += spec_.dynamic_shared;
    }
    shared.bytes = at;
    made_.shared_bytes = at;
    for (uint32_t block = 0; block < made_.model.blocks; ++block) {
      memory_ += shared.bytes;
      if (memory_ > kMostMemory) bad(spec_.origin, fmt::format("found more than {} bytes of memory, expected fewer", kMostMemory));
      made_.model.regions.push_back(shared);
      made_.model.regions.back().block = block;
    }
  }

  void add_tensor_memory() {
    const bool used = std::any_of(entry_.instructions.begin(), entry_.instructions.end(),
                                  [](const Instruction& instruction) { return instruction.opcode[0] == "tcgen05"; });
    if (!used) return;
    RegionSpec tensor;
    tensor.name = "tensor memory";
    tensor.space = Space::kTensor;
    tensor.bytes = kTensorBytes;
    for (uint32_t block = 0; block < made_.model.blocks; ++block) {
      memory_ += tensor.bytes;
      if (memory_ > kMostMemory) bad(spec_.origin, fmt::format("found more than {} bytes of memory, expected fewer", kMostMemory));
      made_.model.regions.push_back(tensor);
      made_.model.regions.back().block = block;
    }
  }

  void add_local() {
    for (const PtxVariable& variable : entry_.variables) {
      // Parameters of calls are the thread's own, too; scopes that use a name again never live at the same time.
      if (variable.space != "local" && variable.space != "param") continue;
      made_.local_bytes = align_up(made_.local_bytes, std::max<uint64_t>(variable.align, 1));
      made_.symbols[variable.name] = {made_.local_bytes, MemorySpace::kLocal};
      made_.local_bytes += variable.bytes;
      if (made_.local_bytes > 512 * 1024) bad({module_.file, variable.line}, "found more than 512 KiB of local memory, expected fewer");
    }
  }

  void add_parameters() {
    if (spec_.args.size() != entry_.params.size()) {
      bad(spec_.origin, fmt::format("found {} arguments, expected {} (the parameters of {})", spec_.args.size(), entry_.params.size(), entry_.name));
    }
    for (size_t i = 0; i < spec_.args.size(); ++i) {
      const PtxVariable& param = entry_.params[i];
      const uint64_t at = align_up(made_.params.size(), std::max<uint64_t>(param.align, 1));
      made_.params.resize(at + param.bytes, 0);
      made_.symbols[param.name] = {at, MemorySpace::kParam};
      fill_parameter(spec_.args[i], param, made_.params.data() + at);
    }
  }

  void fill_parameter(const ArgSpec& arg, const PtxVariable& param, uint8_t* to) const {
    const auto expect_bytes = [&](uint64_t bytes, const std::string& what) {
      if (bytes == param.bytes) return;
      bad(arg.origin, fmt::format("found {} of {} bytes, expected {} bytes (parameter {} of {})", what, bytes, param.bytes, arg.name, entry_.name));
    };
    switch (arg.kind) {
      case ArgSpec::Kind::kBuffer:
      case ArgSpec::Kind::kAddress: {
        expect_bytes(8, "an address");
        const uint64_t address = buffer(arg.buffer, arg.origin) + arg.offset;
        std::memcpy(to, &address, 8);
        break;
      }
      case ArgSpec::Kind::kScalar:
        expect_bytes(arg.type.bytes, arg.type.name);
        std::memcpy(to, &arg.value, std::min<uint32_t>(arg.type.bytes, 8));
        break;
      case ArgSpec::Kind::kTensorMap:
        expect_bytes(kTensorMapBytes, "a tensor map");
        std::memcpy(to, tensor_map_bytes(arg).data(), kTensorMapBytes);
        break;
      case ArgSpec::Kind::kStruct:
        expect_bytes(arg.struct_bytes, "a struct");
        for (const FieldSpec& field : arg.fields) fill_field(arg, field, to);
        break;
    }
  }

  TensorMapBytes tensor_map_bytes(const ArgSpec& arg) const {
    const TensorMapSpec& spec = arg.tensor_map;
    return encode(make_tensor_map(spec, buffer(spec.over, arg.origin) + spec.offset, arg.origin));
  }

  void fill_field(const ArgSpec& arg, const FieldSpec& field, uint8_t* to) const {
    const size_t count = field.address ? 8 : field.bytes.size();
    if (field.at > arg.struct_bytes || count > arg.struct_bytes - field.at) {
      bad(arg.origin, fmt::format("found a field at {} of {} bytes, expected it inside the struct of {} bytes", field.at, count, arg.struct_bytes));
    }
    const uint64_t address = field.address ? buffer(*field.address, arg.origin) + field.offset : 0;
    if (count > 0) std::memcpy(to + field.at, field.address ? static_cast<const void*>(&address) : field.bytes.data(), count);
  }

  void add_threads() {
    const Shape& shape = made_.shape;
    for (uint32_t block = 0; block < made_.model.blocks; ++block) {
      for (uint32_t warp = 0; warp < shape.warps(); ++warp) {
        const uint32_t lanes = std::min(32U, shape.threads() - warp * 32);
        made_.model.threads.push_back({block, lanes, made_.model.blocks == 1 ? fmt::format("warp {}", warp) : fmt::format("warp {} of block {}", warp, block)});
      }
    }
  }

  const Module& module_;
  const Function& entry_;
  const LaunchSpec& spec_;
  Layout made_;
  uint64_t memory_ = 0;
  std::unordered_set<std::string_view> used_;
  std::unordered_map<std::string, uint64_t> buffers_;
  std::vector<std::pair<const PtxVariable*, uint32_t>> module_regions_;
};

}  // namespace

const Function& find_entry(const Module& module, const LaunchSpec& spec) {
  std::string names;
  const Function* only = nullptr;
  size_t count = 0;
  for (const Function& function : module.functions) {
    if (!function.is_entry || !function.has_body) continue;
    if (function.name == spec.entry) return function;
    only = &function;
    ++count;
    if (count <= 8) names += (names.empty() ? "" : ", ") + std::string(function.name);
  }
  if (count == 0) throw InputError(module.file, 0, "found no .entry, expected one");
  if (spec.entry.empty() && count == 1) return *only;
  throw InputError(spec.origin.file, spec.origin.line,
                   fmt::format("found {}, expected one of {} (the entries of {})",
                               spec.entry.empty() ? "no entry" : "entry = " + spec.entry, names, module.file));
}

std::string short_name(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return std::string(mangled);
  // Components are <length><name>; the last one that ends where the mangled name, or its E, ends.
  std::string_view best;
  for (size_t i = 2; i < mangled.size(); ++i) {
    if (mangled[i] < '0' || mangled[i] > '9' || (mangled[i - 1] >= '0' && mangled[i - 1] <= '9')) continue;
    size_t length = 0, digits = i;
    while (digits < mangled.size() && mangled[digits] >= '0' && mangled[digits] <= '9' && length < mangled.size()) {
      length = length * 10 + static_cast<size_t>(mangled[digits++] - '0');
    }
    if (length == 0 || digits + length > mangled.size()) continue;
    best = mangled.substr(digits, length);
    i = digits + length - 1;
  }
  return std::string(best.empty() ? mangled : best);
}

Layout lay_out(const Module& module, const Function& entry, const LaunchSpec& spec) {
  return Builder(module, entry, spec).build();
}

}  // namespace warpcheck::ptx
