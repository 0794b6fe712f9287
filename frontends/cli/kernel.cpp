#include "frontends/cli/kernel.h"

#include <bit>
#include <filesystem>

#include "frontends/cli/digest.h"
#include "frontends/ptx/input_file.h"
#include "frontends/ptx/launch_file.h"
#include "frontends/ptx/program.h"

namespace warpcheck::cli {
namespace {

constexpr int kMaxChain = 8;  // launches one before the other

void add(Digest& digest, const ptx::Contents& contents) {
  digest.add(uint64_t{contents.elements.size()});
  for (const auto& element : contents.elements) {
    digest.add(element.value_or(0));
    digest.add(uint64_t{element.has_value()});
  }
}

void add(Digest& digest, const std::array<uint32_t, 3>& shape) {
  for (const uint32_t size : shape) digest.add(uint64_t{size});
}

template <class Numbers>
void add_numbers(Digest& digest, const Numbers& numbers) {
  digest.add(uint64_t{numbers.size()});
  for (const auto number : numbers) digest.add(uint64_t{number});
}

void add(Digest& digest, const std::vector<ptx::FieldSpec>& fields) {
  digest.add(uint64_t{fields.size()});
  for (const ptx::FieldSpec& field : fields) {
    digest.add(field.at);
    digest.add(field.address.value_or(""));
    digest.add(field.offset);
    add_numbers(digest, field.bytes);
  }
}

void add(Digest& digest, const ptx::TensorMapSpec& map) {
  digest.add(map.over);
  digest.add(map.offset);
  digest.add(map.type.name);
  add_numbers(digest, map.dims);
  add_numbers(digest, map.strides);
  add_numbers(digest, map.box);
  add_numbers(digest, map.element_strides);
  for (const std::string& word : {map.swizzle, map.interleave, map.fill}) digest.add(word);
}

void add(Digest& digest, const ptx::LaunchSpec& spec, int depth) {
  digest.add(spec.entry);
  add(digest, spec.grid);
  add(digest, spec.block);
  add(digest, spec.cluster.value_or(std::array<uint32_t, 3>{}));
  digest.add(spec.dynamic_shared);
  digest.add(uint64_t{spec.cooperative});
  digest.add(spec.printed.value_or(""));
  for (const ptx::BufferSpec& buffer : spec.buffers) {
    digest.add(buffer.name);
    digest.add(buffer.type.name);
    digest.add(buffer.count);
    add(digest, buffer.init);
    digest.add(uint64_t{buffer.expect.has_value()});
    if (buffer.expect) add(digest, *buffer.expect);
    digest.add(std::bit_cast<uint64_t>(buffer.tolerance));
    add(digest, buffer.fields);
  }
  for (const ptx::ArgSpec& arg : spec.args) {
    digest.add(static_cast<uint64_t>(arg.kind));
    digest.add(arg.name);
    digest.add(arg.buffer);
    digest.add(arg.offset);
    digest.add(arg.type.name);
    digest.add(arg.value);
    digest.add(arg.struct_bytes);
    add(digest, arg.tensor_map);
    add(digest, arg.fields);
  }
  for (const ptx::SymbolSpec& symbol : spec.symbols) {
    digest.add(symbol.name);
    digest.add(symbol.type ? symbol.type->name : "");
    add(digest, symbol.init);
  }
  for (const std::string& launch : spec.before) {
    if (depth == kMaxChain) {
      throw InputError(launch, 0, fmt::format("found more than {} launches before one another", kMaxChain));
    }
    const ptx::LaunchSpec before = ptx::read_launch_file(launch);
    digest.add(ptx::read_input_file(before.ptx, "PTX file"));
    add(digest, before, depth + 1);
  }
}

Sources sources_beside(const Request& request, const std::string& ptx) {
  std::vector<std::string> folders;
  for (const std::string& file : {request.launch, ptx}) {
    if (file.empty()) continue;
    const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
    folders.push_back(folder.string());
    folders.push_back(folder.parent_path().string());
  }
  return Sources(std::move(folders));
}

}  // namespace

Kernel load_kernel(const Request& request) {
  Kernel kernel;
  kernel.request = request;
  kernel.spec = request.launch.empty() ? ptx::command_line_launch(request.ptx.value_or(""), request.flags)
                                       : ptx::read_launch_file(request.launch, request.ptx);
  Digest text, launch;
  text.add(ptx::read_input_file(kernel.spec.ptx, "PTX file"));
  kernel.ptx_hash = text.hex();
  add(launch, kernel.spec, 0);
  kernel.launch_hash = launch.hex();
  kernel.program = ptx::make_program(kernel.spec, {.plain_steps = request.plain_steps});
  kernel.sources = sources_beside(request, kernel.spec.ptx);
  return kernel;
}

}  // namespace warpcheck::cli
