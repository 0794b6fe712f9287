// Tensor copies: boxes of a tensor that a tensor map describes, to and from shared memory; and what changes tensor maps.
//
// A box is copied whole: what lies beyond the tensor reads as zero (or NaN) and is not written, and all of it counts as
// bytes completed. Not supported: im2col modes, interleaved layouts, elements below a byte.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/ptx/aligned.h"
#include "frontends/ptx/bulk_copy.h"
#include "frontends/ptx/memory_operands.h"
#include "frontends/ptx/tensor_map.h"

namespace warpcheck::ptx {
namespace {

constexpr uint64_t kSharedAlignment = 128;

enum TensorMode : uint8_t { kLoad, kStore };

struct MapPlace {
  TensorMap map;
  Range range;  // of no region: in a parameter
};

// The map that a lane's address leads to; nullopt after a report.
std::optional<MapPlace> map_at(Interpreter& interpreter, Fragment& fragment, const Code& code, uint32_t lane, const AddressOperand& at, MemorySpace space) {
  const uint64_t address = address_of(*fragment.warp, at, space, lane);
  const auto place = interpreter.place(fragment, space, address, kTensorMapBytes);
  const bool in_param = place.space == MemorySpace::kParam, in_memory = place.space == MemorySpace::kGlobal || place.space == MemorySpace::kShared;
  if (!place.mapped || (!in_param && !in_memory)) {
    report_unmapped(interpreter, fragment, code, 1U << lane, address, "tensor map");
    return std::nullopt;
  }
  if (address % 64 != 0) {
    interpreter.report(fragment, 1U << lane, code, FindingKind::kMisaligned, "tensor map", fmt::format("address {:#x}", address),
                       "a tensor map lies at a multiple of 64 bytes");
    return std::nullopt;
  }
  MapPlace made;
  std::span<const uint8_t> bytes;
  if (in_param) {
    bytes = std::span<const uint8_t>(interpreter.kernel().params).subspan(place.offset);
  } else {
    const auto all = interpreter.machine().bytes(place.range.region);
    if (place.range.offset + kTensorMapBytes > all.size()) {
      report_unmapped(interpreter, fragment, code, 1U << lane, address, "tensor map");
      return std::nullopt;
    }
    bytes = all.subspan(place.range.offset, kTensorMapBytes);
    made.range = place.range;
  }
  const auto map = decode_tensor_map(bytes);
  if (!map) {
    interpreter.unsupported(fragment, code, "what lies at the tensor map's address was not made by the launch");
    return std::nullopt;
  }
  made.map = *map;
  return made;
}

// One lane's box: its pieces in global memory, rows of dimension 0 in order.
class Box {
 public:
  Box(Interpreter& interpreter, const Fragment& fragment, const TensorMap& map) : interpreter_(interpreter), fragment_(fragment), map_(map) {}

  // The box whose lowest element has these coordinates.
  void add(const std::array<int32_t, 5>& at) {
    std::array<uint32_t, 5> i{};
    while (true) {
      add_row(at, i);
      uint32_t d = 1;
      while (d < map_.rank && ++i[d] == map_.box_elements(d)) i[d++] = 0;
      if (d >= map_.rank) return;
    }
  }

  std::vector<Range> take() { return std::move(pieces_); }
  bool unmapped() const { return unmapped_; }

 private:
  void add_row(const std::array<int32_t, 5>& at, const std::array<uint32_t, 5>& i) {
    const uint32_t size = map_.element_bytes();
    const auto length = static_cast<int64_t>(map_.box_elements(0));
    bool inside = true;
    uint64_t address = map_.address;
    for (uint32_t d = 1; d < map_.rank; ++d) {
      const int64_t c = int64_t{at[d]} + int64_t{i[d]} * map_.element_strides[d];
      inside = inside && c >= 0 && static_cast<uint64_t>(c) < map_.dims[d];
      address += static_cast<uint64_t>(c) * map_.strides[d - 1];
    }
    const int64_t first = inside ? std::clamp<int64_t>(-int64_t{at[0]}, 0, length) : length;
    const int64_t last = std::clamp<int64_t>(static_cast<int64_t>(map_.dims[0]) - at[0], first, length);
    append({kNoRegion, 0, static_cast<uint32_t>(first * size)});
    if (last > first) {
      address += static_cast<uint64_t>(at[0] + first) * size;
      const auto bytes = static_cast<uint32_t>((last - first) * size);
      const auto place = interpreter_.place(fragment_, MemorySpace::kGlobal, address, bytes);
      unmapped_ = unmapped_ || !place.mapped;
      append(place.range);
    }
    append({kNoRegion, 0, static_cast<uint32_t>((length - last) * size)});
  }

  void append(const Range& piece) {
    if (piece.bytes == 0) return;
    if (!pieces_.empty()) {
      Range& before = pieces_.back();
      const bool follows = before.region == piece.region && (piece.region == kNoRegion || before.offset + before.bytes == piece.offset);
      if (follows) {
        before.bytes += piece.bytes;
        return;
      }
    }
    pieces_.push_back(piece);
  }

  Interpreter& interpreter_;
  const Fragment& fragment_;
  const TensorMap& map_;
  std::vector<Range> pieces_;
  bool unmapped_ = false;
};

// cuda.h, CUtensorMapFloatOOBfill: a NaN of the element's type.
void set_fill(AsyncCopy& copy, const TensorMap& map) {
  if (map.fill == 0) return;
  copy.fill.assign(map.element_bytes(), 0xff);
  copy.fill.back() = 0x7f;
  copy.fill_opaque = true;
}

std::string_view type_name(const TensorMap& map) {
  constexpr std::string_view kNames[] = {"u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32", "f64", "bf16", "f32", "f32"};
  return map.element_type < std::size(kNames) ? kNames[map.element_type] : "b8";
}

std::array<int32_t, 5> coordinates(const Fragment& fragment, const Code& code, uint32_t lane) {
  std::array<int32_t, 5> at{};
  for (size_t d = 0; d < code.from_vector.size() && d < 5; ++d) {
    at[d] = static_cast<int32_t>(value_of(*fragment.warp, code.from_vector[d], lane));
  }
  return at;
}

// at: shared memory, map, mbarrier; from_vector: coordinates; immediate: dimensions; by_rows: gather and scatter.
bool issue_tensor_copy(Interpreter& interpreter, Fragment& fragment, const Code& code, uint32_t lane) {
  const auto found = map_at(interpreter, fragment, code, lane, code.at[1], MemorySpace::kGeneric);
  if (!found) return !interpreter.gave_up();
  const TensorMap& map = found->map;
  if (map.element_bytes() == 0 || map.interleave != 0 || map.atomicity != 0 || map.swizzle > static_cast<uint32_t>(Swizzle::k128)) {
    interpreter.unsupported(fragment, code, "a tensor map of this kind is not supported");
    return false;
  }
  if (const auto fault = fault_of(map)) {
    interpreter.report(fragment, 1U << lane, code, FindingKind::kMisaligned, "copy", "tensor map", "the tensor map cannot be used: " + *fault);
    return true;
  }
  if (map.rank != code.immediate) {
    interpreter.report(fragment, 1U << lane, code, FindingKind::kOutOfBounds, "copy", "tensor map",
                       fmt::format("the tensor map has {} dimensions", map.rank));
    return true;
  }
  Box box(interpreter, fragment, map);
  std::array<int32_t, 5> at = coordinates(fragment, code, lane);
  uint64_t bytes = map.box_bytes();
  if (code.by_rows) {
    const std::array<int32_t, 5> named = at;
    bytes *= 4;
    for (size_t row = 1; row < 5; ++row) box.add({named[0], named[row], 0, 0, 0});
  } else {
    box.add(at);
  }
  const uint64_t address = address_of(*fragment.warp, code.at[0], code.space, lane);
  const auto tile = interpreter.place(fragment, code.space, address, static_cast<uint32_t>(bytes));
  if (!tile.mapped || tile.space != MemorySpace::kShared || box.unmapped()) {
    report_unmapped(interpreter, fragment, code, 1U << lane, box.unmapped() ? map.address : address, "copy");
    return true;
  }
  const uint64_t span = map.swizzle == 0 ? 16 : 16ULL << map.swizzle;
  if (tile.range.offset % kSharedAlignment != 0) {
    interpreter.report(fragment, 1U << lane, code, FindingKind::kMisaligned, "copy", interpreter.machine().range_name(tile.range),
                       "a tensor copy needs shared memory at a multiple of 128 bytes");
    return true;
  }
  if (bytes % span != 0) {
    interpreter.unsupported(fragment, code, "a swizzled box whose rows are narrower than its swizzle is not supported");
    return false;
  }
  AsyncCopy copy;
  copy.reads = code.mode == kLoad ? box.take() : std::vector<Range>{tile.range};
  copy.writes = code.mode == kLoad ? std::vector<Range>{tile.range} : box.take();
  copy.swizzle = map.swizzled_bits();
  copy.map = found->range;
  set_fill(copy, map);
  if (!code.name.empty()) {
    try {
      copy.reduce = reduction_of(code.name, type_name(map));
    } catch (const NotSupported&) {
      interpreter.unsupported(fragment, code, "a reduction of elements of this type is not supported");
      return false;
    }
    copy.element_bytes = static_cast<uint8_t>(map.element_bytes());
  }
  issue_bulk(interpreter, fragment, code, lane, std::move(copy), code.bulk ? std::nullopt : barrier_place(interpreter, fragment, code, lane));
  return true;
}

Flow run_tensor_copy(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!operands_take_effect(interpreter, fragment, code, active)) return Flow::kStop;
  for (const Source& coordinate : code.from_vector) {
    if (!interpreter.takes_effect(fragment, code, coordinate, active, "coordinate")) return Flow::kStop;
  }
  interpreter.machine().begin_event(fragment.thread, code.site);
  bool going = true;
  each_lane(active, [&](uint32_t lane) { going = going && issue_tensor_copy(interpreter, fragment, code, lane); });
  return going ? Flow::kNext : Flow::kStop;
}

// [map, {coordinates}]
void take_map(Decoder& decoder, const Operand& operand, Code& code) {
  if (operand.kind != OperandKind::kAddress || operand.parts.size() != 2) throw NotSupported();
  Operand base = operand;
  base.parts.resize(1);
  code.at[1] = decoder.address(base);
  const Operand& list = operand.parts[1];
  if (list.kind == OperandKind::kVector) {
    for (const Operand& part : list.parts) code.from_vector.push_back(decoder.source(part));
  } else {
    code.from_vector.push_back(decoder.source(list));
  }
}

uint32_t take_dimensions(Modifiers& modifiers) {
  uint32_t dimensions = 0;
  for (const std::string_view name : {"1d", "2d", "3d", "4d", "5d"}) {
    ++dimensions;
    if (modifiers.take(name)) return dimensions;
  }
  throw NotSupported();
}

void take_mode(Modifiers& modifiers, Code& code, uint32_t dimensions) {
  code.immediate = dimensions;
  code.by_rows = modifiers.take("tile::gather4") || modifiers.take("tile::scatter4");
  modifiers.take("tile");
  if (code.by_rows && dimensions != 2) throw NotSupported();
  if (code.from_vector.size() != (code.by_rows ? 5 : dimensions)) throw NotSupported();
}

// cp.async.bulk.tensor.DIM.shared.global[.mode].mbarrier::complete_tx::bytes[.multicast::cluster] [dst], [map, at], [mbar] [, mask] [, policy]
// cp.async.bulk.tensor.DIM.global.shared::cta[.mode].bulk_group [map, at], [src] [, policy]
void decode_tensor(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const uint32_t dimensions = take_dimensions(modifiers);
  const bool hinted = modifiers.take("L2::cache_hint");
  code.bulk = modifiers.take("bulk_group");
  modifiers.take("global");
  if (modifiers.take("shared::cluster")) code.space = MemorySpace::kSharedCluster;
  else if (modifiers.take("shared::cta") || modifiers.take("shared")) code.space = MemorySpace::kShared;
  else throw NotSupported();
  if (code.bulk) {
    code.mode = kStore;
    if (decoder.operands() != 2U + (hinted ? 1 : 0)) throw NotSupported();
    take_map(decoder, decoder.operand(0), code);
    code.at[0] = decoder.address(1);
  } else {
    if (!modifiers.take("mbarrier::complete_tx::bytes")) throw NotSupported();
    modifiers.take("cta_group::1");
    code.count_given = modifiers.take("multicast::cluster");
    if (decoder.operands() != 3U + (code.count_given ? 1 : 0) + (hinted ? 1 : 0)) throw NotSupported();
    code.at[0] = decoder.address(0);
    take_map(decoder, decoder.operand(1), code);
    code.at[2] = decoder.address(2);
    if (code.count_given) code.from[1] = decoder.source(3);
  }
  take_mode(modifiers, code, dimensions);
  code.control = run_tensor_copy;
}

// cp.reduce.async.bulk.tensor.DIM.global.shared::cta.OP[.mode].bulk_group [map, at], [src] [, policy]
void decode_tensor_reduction(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.name = take_reduction(modifiers);
  decode_tensor(decoder, modifiers, code);
  if (!code.bulk) throw NotSupported();
}

// tensormap.replace.tile.FIELD.SPACE.b1024.TYPE [map], [ordinal,] value: a weak access to the whole map.
Flow run_replace(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!operands_take_effect(interpreter, fragment, code, active)) return Flow::kStop;
  interpreter.machine().begin_event(fragment.thread, code.site);
  bool going = true;
  each_lane(active, [&](uint32_t lane) {
    const auto found = going ? map_at(interpreter, fragment, code, lane, code.at[1], code.space) : std::nullopt;
    if (!found) {
      going = going && !interpreter.gave_up();
      return;
    }
    TensorMap map = found->map;
    uint64_t value = value_of(*fragment.warp, code.from[0], lane);
    if (code.bytes == 4) value &= 0xffffffffU;
    if (!replace(map, std::string(code.name), static_cast<uint32_t>(code.immediate), value)) {
      interpreter.unsupported(fragment, code, "this field of a tensor map is not supported");
      going = false;
      return;
    }
    const TensorMapBytes bytes = encode(map);
    interpreter.machine().store(fragment.thread, lane, found->range, bytes.data());
  });
  return going ? Flow::kNext : Flow::kStop;
}

void decode_replace(Decoder& decoder, Modifiers& modifiers, Code& code) {
  code.name = modifiers.front();
  modifiers.take(modifiers.front());
  code.space = take_space(modifiers);
  if (!modifiers.take("b1024")) throw NotSupported();
  code.bytes = static_cast<uint8_t>(type_bytes(modifiers.take_type()));
  code.at[1] = decoder.address(0);
  if (decoder.operands() == 3) {
    const Source ordinal = decoder.source(1);
    if (ordinal.slot != kNone) throw NotSupported();
    code.immediate = ordinal.value;
  }
  code.from[0] = decoder.source(decoder.operands() - 1);
  code.control = run_replace;
}

// fence.proxy.tensormap::generic.acquire.SCOPE [map], 128; the release form is a release fence.
Flow run_map_fence(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!interpreter.takes_effect(fragment, code, code.at[1].base, active, "address")) return Flow::kStop;
  if (!interpreter.isolate(fragment, active)) return Flow::kJump;
  interpreter.machine().fence(fragment.thread, FenceKind::kThread, code.scope, code.site, Order::kAcquire);
  each_lane(active, [&](uint32_t lane) {
    const uint64_t address = address_of(*fragment.warp, code.at[1], MemorySpace::kGeneric, lane);
    const auto place = interpreter.place(fragment, MemorySpace::kGeneric, address, kTensorMapBytes);
    if (!place.mapped || place.space == MemorySpace::kParam) return;
    interpreter.machine().fence_tensor_map(fragment.thread, lane, place.range, code.site);
  });
  return Flow::kNext;
}

Flow run_map_release(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!interpreter.isolate(fragment, active)) return Flow::kJump;
  interpreter.machine().fence(fragment.thread, FenceKind::kThread, code.scope, code.site, Order::kRelease);
  return Flow::kNext;
}

void decode_map_fence(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const bool acquires = modifiers.take("acquire");
  if (!acquires && !modifiers.take("release")) throw NotSupported();
  take_scope(modifiers, code);
  if (acquires) code.at[1] = decoder.address(0);
  code.control = acquires ? run_map_fence : run_map_release;
}

// tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned [to], [from], 128: the warp
// copies a map, then fences. The lowest lane stands for all.
Flow run_copy_map(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == 0 && !operands_take_effect(interpreter, fragment, code, active)) return Flow::kStop;
  if (const auto flow = come_together(interpreter, fragment, code, active)) return *flow;
  const auto lane = static_cast<uint32_t>(__builtin_ctz(active));
  bool equal = true;
  each_lane(active, [&](uint32_t other) {
    for (const size_t i : {size_t{0}, size_t{1}}) equal &= value_of(*fragment.warp, code.at[i].base, other) == value_of(*fragment.warp, code.at[i].base, lane);
  });
  if (!equal) {
    interpreter.report(fragment, active, code, FindingKind::kDivergence, "copy", "tensor map", "the lanes of the warp name different addresses");
    return Flow::kNext;
  }
  const auto place = [&](size_t i, MemorySpace space) {
    return interpreter.place(fragment, space, address_of(*fragment.warp, code.at[i], space, lane), kTensorMapBytes);
  };
  const auto to = place(0, MemorySpace::kGlobal), from = place(1, MemorySpace::kShared);
  if (!to.mapped || !from.mapped) {
    const size_t i = to.mapped ? 1 : 0;
    report_unmapped(interpreter, fragment, code, 1U << lane, address_of(*fragment.warp, code.at[i], MemorySpace::kGeneric, lane), "copy");
    return Flow::kNext;
  }
  GpuMachine& machine = interpreter.machine();
  machine.begin_event(fragment.thread, code.site);
  TensorMapBytes bytes{};
  const ValueTag tag = machine.load(fragment.thread, lane, from.range, bytes.data());
  machine.store(fragment.thread, lane, to.range, bytes.data(), tag);
  machine.fence(fragment.thread, FenceKind::kThread, code.scope, code.site, Order::kRelease);
  return Flow::kNext;
}

void decode_copy_map(Decoder& decoder, Modifiers& modifiers, Code& code) {
  for (const std::string_view name : {"global", "shared::cta", "tensormap::generic", "release", "sync", "aligned"}) {
    if (!modifiers.take(name)) throw NotSupported();
  }
  take_scope(modifiers, code);
  code.at[0] = decoder.address(0);
  code.at[1] = decoder.address(1);
  if (decoder.source(2).value != kTensorMapBytes) throw NotSupported();
  code.control = run_copy_map;
}

constexpr Row kRows[] = {
    {"cp.async.bulk.tensor", decode_tensor},
    {"cp.reduce.async.bulk.tensor", decode_tensor_reduction},
    {"tensormap.replace.tile", decode_replace},
    {"tensormap.cp_fenceproxy", decode_copy_map},
    {"fence.proxy.tensormap::generic", decode_map_fence},
};

}  // namespace

std::span<const Row> tensor_rows() { return kRows; }

}  // namespace warpcheck::ptx
