// Loads and stores. Weak ones act at once, lane by lane; strong ones (volatile, relaxed or more) are visible.
#include <cstring>

#include "frontends/ptx/decode.h"
#include "frontends/ptx/memory_operands.h"
#include "frontends/ptx/visible.h"

namespace warpcheck::ptx {
namespace {

constexpr size_t kMostBytes = 32;  // of one lane's access: v8.b32

uint64_t extend(uint64_t value, const Code& code) {
  const unsigned unused = 64U - 8U * code.bytes;
  return code.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused) : value;
}

class Load {
 public:
  Load(Interpreter& interpreter, Fragment& fragment, const Code& code)
      : interpreter_(interpreter), fragment_(fragment), code_(code), warp_(*fragment.warp),
        bytes_(static_cast<uint32_t>(code.bytes * code.to_vector.size())) {}

  void run(LaneMask active) {
    if (code_.follows) load_ = interpreter_.machine().follow_load();
    each_lane(active, [&](uint32_t lane) { one(lane); });
    const LoadNode node = load_ == 0 ? 0 : interpreter_.load_values().leaf(load_);
    for (size_t i = 0; i < code_.to_vector.size(); ++i) {
      mark(warp_, code_.to_vector[i], active, uninitialized_[i], opaque_[i], code_.site, node == 0 ? 0 : active, node);
    }
  }

 private:
  void one(uint32_t lane) {
    const uint64_t address = address_of(warp_, code_.at[0], code_.space, lane);
    const Interpreter::Place place = interpreter_.place(fragment_, code_.space, address, bytes_);
    std::memset(buffer_.data(), 0xff, buffer_.size());
    if (!place.mapped) {
      report_unmapped(interpreter_, fragment_, code_, 1U << lane, address, "read");
    } else if (place.space == MemorySpace::kParam) {
      std::memcpy(buffer_.data(), interpreter_.kernel().params.data() + place.offset, bytes_);
    } else if (place.space == MemorySpace::kLocal) {
      std::memcpy(buffer_.data(), warp_.local[lane].data() + place.offset, bytes_);
      note_tags(lane, warp_.local_tags[lane].data() + place.offset);
      if ((uninitialized_any_ >> lane & 1) != 0) interpreter_.remember_uninitialized(fragment_, code_, "local memory", lane);
    } else {
      from_machine(lane, place.range);
    }
    for (size_t i = 0; i < code_.to_vector.size(); ++i) {
      uint64_t value = 0;
      std::memcpy(&value, buffer_.data() + i * code_.bytes, code_.bytes);
      warp_.slots[code_.to_vector[i]].lane[lane] = extend(value, code_);
    }
  }

  void from_machine(uint32_t lane, Range range) {
    GpuMachine& machine = interpreter_.machine();
    if (!begun_) machine.begin_event(fragment_.thread, code_.site);
    begun_ = true;
    if (machine.load(fragment_.thread, lane, range, buffer_.data(), load_) == ValueTag::kKnown) return;
    std::array<uint8_t, kMostBytes> bytes{}, tags{};
    machine.peek(range, bytes.data(), tags.data());
    note_tags(lane, tags.data());
    if ((uninitialized_any_ >> lane & 1) != 0) interpreter_.remember_uninitialized(fragment_, code_, range, lane);
  }

  // One tag a byte of the access.
  void note_tags(uint32_t lane, const uint8_t* tags) {
    for (size_t i = 0; i < bytes_; ++i) {
      const size_t element = i / code_.bytes;
      if ((tags[i] & kOpaqueTag) != 0) opaque_[element] |= 1U << lane;
      if ((tags[i] & kUninitializedTag) == 0) continue;
      uninitialized_[element] |= 1U << lane;
      uninitialized_any_ |= 1U << lane;
    }
  }

  Interpreter& interpreter_;
  Fragment& fragment_;
  const Code& code_;
  Warp& warp_;
  const uint32_t bytes_;
  bool begun_ = false;
  uint32_t load_ = 0;
  std::array<uint8_t, kMostBytes> buffer_{};
  std::array<LaneMask, kMostBytes> uninitialized_{}, opaque_{};  // of each element
  LaneMask uninitialized_any_ = 0;
};

Flow run_load(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (!interpreter.takes_effect(fragment, code, code.at[0].base, active, "address")) return Flow::kStop;
  Load(interpreter, fragment, code).run(active);
  return Flow::kNext;
}

bool holds(const GpuMachine& machine, Range range, const void* bytes) {
  const auto all = machine.bytes(range.region);
  if (range.offset + range.bytes > all.size() || std::memcmp(all.data() + range.offset, bytes, range.bytes) != 0) return false;
  for (uint32_t b = 0; b < range.bytes; ++b) {
    if (!machine.initialized(range.region, range.offset + b)) return false;
  }
  return true;
}

// Lanes that access their .local memory: what they store there takes no effect, and keeps its tags.
LaneMask local_lanes(const Interpreter& interpreter, const Fragment& fragment, const Code& code, LaneMask active) {
  if (code.space != MemorySpace::kLocal && code.space != MemorySpace::kGeneric) return 0;
  LaneMask made = 0;
  each_lane(active, [&](uint32_t lane) {
    const auto place = interpreter.place(fragment, code.space, address_of(*fragment.warp, code.at[0], code.space, lane), code.bytes);
    if (place.space == MemorySpace::kLocal) made |= 1U << lane;
  });
  return made;
}

Flow run_store(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  Warp& warp = *fragment.warp;
  if (!interpreter.takes_effect(fragment, code, code.at[0].base, active, "address")) return Flow::kStop;
  const LaneMask own = local_lanes(interpreter, fragment, code, active);
  LaneMask opaque = 0;
  for (const Source& source : code.from_vector) {
    opaque |= interpreter.stored(fragment, code, source, active & ~own);
    interpreter.note_effect(warp, source, own);
    interpreter.settle_pending(fragment, code, source, own, "stored value");
  }
  const auto bytes = static_cast<uint32_t>(code.bytes * code.from_vector.size());
  bool begun = false, changes = !interpreter.kernel().has_rounds;
  each_lane(active, [&](uint32_t lane) {
    std::array<uint8_t, kMostBytes> buffer{};
    for (size_t i = 0; i < code.from_vector.size(); ++i) {
      const uint64_t value = value_of(warp, code.from_vector[i], lane);
      std::memcpy(buffer.data() + i * code.bytes, &value, code.bytes);
    }
    const uint64_t address = address_of(warp, code.at[0], code.space, lane);
    const Interpreter::Place place = interpreter.place(fragment, code.space, address, bytes);
    if (!place.mapped || place.space == MemorySpace::kParam) {
      report_unmapped(interpreter, fragment, code, 1U << lane, address, "write");
    } else if (place.space == MemorySpace::kLocal) {
      changes = true;
      std::memcpy(warp.local[lane].data() + place.offset, buffer.data(), bytes);
      for (size_t i = 0; i < code.from_vector.size(); ++i) {
        std::memset(warp.local_tags[lane].data() + place.offset + i * code.bytes, tags_of(warp, code.from_vector[i], lane), code.bytes);
      }
    } else {
      if (!begun) interpreter.machine().begin_event(fragment.thread, code.site);
      begun = true;
      const ValueTag tag = (opaque >> lane & 1) != 0 ? ValueTag::kOpaque : ValueTag::kKnown;
      changes = changes || !holds(interpreter.machine(), place.range, buffer.data());
      interpreter.machine().store(fragment.thread, lane, place.range, buffer.data(), tag);
    }
  });
  if (changes) end_poll(interpreter, fragment);
  return Flow::kNext;
}

VisibleOp word_operation(Interpreter& interpreter, const Code& code, const Group& group, Range range, OpKind kind) {
  VisibleOp made;
  made.op = interpreter.machine().word_op(kind, range);
  made.order = code.order;
  made.scope = code.scope;
  made.lanes = group.lanes;
  return made;
}

// Local and parameter memory is the lane's own: volatile or not, nobody else sees it.
bool is_private(const Interpreter& interpreter, const Fragment& fragment, const Code& code, LaneMask active) {
  bool found = false;
  each_lane(active, [&](uint32_t lane) {
    const auto place = interpreter.place(fragment, code.space, address_of(*fragment.warp, code.at[0], code.space, lane), code.bytes);
    found |= place.mapped && (place.space == MemorySpace::kLocal || place.space == MemorySpace::kParam);
  });
  return found;
}

Flow run_strong_load(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == 0) {
    if (!interpreter.takes_effect(fragment, code, code.at[0].base, active, "address")) return Flow::kStop;
    if (is_private(interpreter, fragment, code, active)) return run_load(interpreter, fragment, code, active);
    const Begin begin = begin_visible(interpreter, fragment, code, active);
    if (begin != Begin::kRun) return stopped(begin);
    fragment.groups = groups_of(fragment, code.at[0], code.space, active);
    fragment.group = 0;
  }
  const uint32_t to = code.to_vector[0];
  return each_group(
      fragment,
      [&](const Group& group) {
        const auto place = interpreter.place(fragment, code.space, group.address, code.bytes);
        if (!place.mapped) {
          report_unmapped(interpreter, fragment, code, group.lanes, group.address, "read");
          return false;
        }
        VisibleOp made = word_operation(interpreter, code, group, place.range, OpKind::kLoad);
        if (fragment.groups.size() == 1 && !wait_if_polling(interpreter, fragment, code, group, made.op)) return true;
        interpreter.post(fragment, code, made);
        return true;
      },
      [&](const Group& group) {
        const uint64_t value = interpreter.machine().last_outcome(fragment.thread).result;
        remember_poll(fragment, value);
        each_lane(group.lanes, [&](uint32_t lane) { fragment.warp->slots[to].lane[lane] = extend(value, code); });
        const Range range = interpreter.place(fragment, code.space, group.address, code.bytes).range;
        mark_word(interpreter, fragment, code, to, group.lanes, range);
      });
}

Flow run_strong_store(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active) {
  if (fragment.stage == 0) {
    if (!interpreter.takes_effect(fragment, code, code.at[0].base, active, "address")) return Flow::kStop;
    if (is_private(interpreter, fragment, code, active)) return run_store(interpreter, fragment, code, active);
    if (!interpreter.takes_effect(fragment, code, code.from_vector[0], active, "stored value")) return Flow::kStop;
    const Begin begin = begin_visible(interpreter, fragment, code, active);
    if (begin != Begin::kRun) return stopped(begin);
    fragment.groups = groups_of(fragment, code.at[0], code.space, active);
    fragment.group = 0;
    separate(fragment.groups);
  }
  return each_group(
      fragment,
      [&](const Group& group) {
        const auto place = interpreter.place(fragment, code.space, group.address, code.bytes);
        if (!place.mapped) {
          report_unmapped(interpreter, fragment, code, group.lanes, group.address, "write");
          return false;
        }
        VisibleOp made = word_operation(interpreter, code, group, place.range, OpKind::kStore);
        made.op.operand = value_of(*fragment.warp, code.from_vector[0], static_cast<uint32_t>(__builtin_ctz(group.lanes)));
        if (code.bytes < 8) made.op.operand &= (uint64_t{1} << (8 * code.bytes)) - 1;
        interpreter.post(fragment, code, made);
        return true;
      },
      [](const Group&) {});
}

void take_vector(Modifiers& modifiers, uint32_t& count) {
  count = modifiers.take("v2") ? 2 : modifiers.take("v4") ? 4 : modifiers.take("v8") ? 8 : 1;
}

void decode_type(Modifiers& modifiers, Code& code) {
  const std::string_view type = modifiers.take_type();
  if (type == "pred" || type == "b128") throw NotSupported();
  code.bytes = static_cast<uint8_t>(type_bytes(type));
  code.is_signed = type[0] == 's';
}

void set_constants(Warp& warp, const Code& code, LaneMask lanes) {
  for (size_t i = 0; i < code.to_vector.size(); ++i) {
    auto& to = warp.slots[code.to_vector[i]].lane;
    each_lane(lanes, [&](uint32_t lane) { to[lane] = code.from_vector[i].value; });
    mark(warp, code.to_vector[i], lanes, 0, 0, kNoSite);
  }
}

// A parameter of the kernel at a constant offset is known before it runs.
bool load_constants(Decoder& decoder, Code& code) {
  if (code.space != MemorySpace::kParam || code.at[0].base.slot != kNone || code.strong) return false;
  const std::vector<uint8_t>& params = decoder.kernel().params;
  const uint64_t at = code.at[0].base.value + static_cast<uint64_t>(code.at[0].offset);
  const uint64_t bytes = code.bytes * code.to_vector.size();
  if (at > params.size() || bytes > params.size() - at) return false;
  for (size_t i = 0; i < code.to_vector.size(); ++i) {
    uint64_t value = 0;
    std::memcpy(&value, params.data() + at + i * code.bytes, code.bytes);
    code.from_vector.push_back({kNone, extend(value, code)});
  }
  code.lanes = set_constants;
  return true;
}

void decode_load(Decoder& decoder, Modifiers& modifiers, Code& code) {
  uint32_t count = 1;
  code.strong = take_semantics(modifiers, code, Order::kAcquire);
  code.space = take_space(modifiers);
  take_cache_hints(modifiers);
  take_vector(modifiers, count);
  decode_type(modifiers, code);
  const Operand& to = decoder.operand(0);
  if (count > 1 && (to.kind != OperandKind::kVector || to.parts.size() != count)) throw NotSupported();
  if (to.kind == OperandKind::kVector) {
    for (const Operand& part : to.parts) code.to_vector.push_back(decoder.destination(part));
  } else {
    code.to_vector.push_back(decoder.destination(to));
  }
  if (code.to_vector.size() * code.bytes > kMostBytes || code.to_vector.empty()) throw NotSupported();
  if (code.strong && code.to_vector.size() > 1) throw NotSupported();
  code.at[0] = decoder.address(1);
  if (code.space == MemorySpace::kParam && decoder.symbol_space(decoder.operand(1)) == MemorySpace::kLocal) code.space = MemorySpace::kLocal;
  if (load_constants(decoder, code)) return;
  if (code.strong) code.live = decoder.live_registers();
  code.quiet = code.space == MemorySpace::kParam;
  code.mild = !code.strong && code.space != MemorySpace::kLocal;
  code.follows = !code.strong && code.space != MemorySpace::kLocal && code.space != MemorySpace::kParam && decoder.may_go_unused();
  code.control = code.strong ? run_strong_load : run_load;
}

void decode_store(Decoder& decoder, Modifiers& modifiers, Code& code) {
  uint32_t count = 1;
  code.strong = take_semantics(modifiers, code, Order::kRelease);
  code.space = take_space(modifiers);
  take_cache_hints(modifiers);
  take_vector(modifiers, count);
  decode_type(modifiers, code);
  code.at[0] = decoder.address(0);
  if (code.space == MemorySpace::kParam && decoder.symbol_space(decoder.operand(0)) == MemorySpace::kLocal) code.space = MemorySpace::kLocal;
  if (code.space == MemorySpace::kParam || code.space == MemorySpace::kConst) throw NotSupported();
  const Operand& from = decoder.operand(1);
  if (count > 1 && (from.kind != OperandKind::kVector || from.parts.size() != count)) throw NotSupported();
  if (from.kind == OperandKind::kVector) {
    for (const Operand& part : from.parts) code.from_vector.push_back(decoder.source(part));
  } else {
    code.from_vector.push_back(decoder.source(from));
  }
  if (code.from_vector.size() * code.bytes > kMostBytes || code.from_vector.empty()) throw NotSupported();
  if (code.strong && code.from_vector.size() > 1) throw NotSupported();
  code.mild = !code.strong;
  code.control = code.strong ? run_strong_store : run_store;
}

Flow run_nothing(Interpreter&, Fragment&, const Code&, LaneMask) { return Flow::kNext; }

// Hints: no effect on what a kernel means.
void decode_hint(Decoder&, Modifiers& modifiers, Code& code) {
  while (!modifiers.front().empty()) modifiers.take(modifiers.front());
  code.control = run_nothing;
  code.quiet = true;
}

constexpr Row kRows[] = {
    {"ld", decode_load},
    {"st", decode_store},
    {"prefetch", decode_hint},
    {"prefetchu", decode_hint},
    {"applypriority", decode_hint},
    {"nanosleep", decode_hint},
    {"pmevent", decode_hint},
    {"setmaxnreg", decode_hint},
    {"cp.async.bulk.prefetch", decode_hint},
};

}  // namespace

std::span<const Row> memory_rows() { return kRows; }

bool take_semantics(Modifiers& modifiers, Code& code, Order strongest) {
  bool strong = false;
  modifiers.take("weak");
  if (modifiers.take("volatile") || modifiers.take("mmio")) {
    strong = true;
    code.scope = Scope::kSystem;
  }
  if (modifiers.take("relaxed")) strong = true;
  const bool ordered = strongest == Order::kAcquire   ? modifiers.take("acquire")
                       : strongest == Order::kRelease ? modifiers.take("release")
                                                      : false;
  if (ordered) {
    strong = true;
    code.order = strongest;
  }
  take_scope(modifiers, code);
  return strong;
}

void take_scope(Modifiers& modifiers, Code& code) {
  if (modifiers.take("cta")) code.scope = Scope::kBlock;
  else if (modifiers.take("cluster")) code.scope = Scope::kCluster;
  else if (modifiers.take("gpu")) code.scope = Scope::kDevice;
  else if (modifiers.take("sys")) code.scope = Scope::kSystem;
}

MemorySpace take_space(Modifiers& modifiers) {
  struct Named {
    std::string_view name;
    MemorySpace space;
  };
  static constexpr Named kNames[] = {
      {"global", MemorySpace::kGlobal},         {"shared", MemorySpace::kShared},
      {"shared::cta", MemorySpace::kShared},    {"shared::cluster", MemorySpace::kSharedCluster},
      {"const", MemorySpace::kConst},           {"local", MemorySpace::kLocal},
      {"param", MemorySpace::kParam},           {"param::entry", MemorySpace::kParam}};
  for (const Named& named : kNames) {
    if (modifiers.take(named.name)) return named.space;
  }
  return MemorySpace::kGeneric;
}

void take_cache_hints(Modifiers& modifiers) {
  for (const std::string_view name : {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "unified"}) modifiers.take(name);
  modifiers.take_prefix("L1::");
  modifiers.take_prefix("L2::");
}

}  // namespace warpcheck::ptx
