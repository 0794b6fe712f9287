// What people read of a run: names, sentences, recorded events.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "model/gpu_machine_impl.h"

namespace warpcheck {
namespace {

// "0", "1-31", "0,4-7"; evenly spaced ones as "0,2,...,30".
std::string mask_text(LaneMask who) {
  const int first = std::countr_zero(who), step = std::countr_zero(who & (who - 1)) - first;
  if (std::popcount(who) > 3 && step > 1) {
    LaneMask even = 0;
    int last = first;
    for (int lane = first; std::popcount(even) < std::popcount(who) && lane < 32; lane += step) even |= LaneMask{1} << (last = lane);
    if (even == who) return fmt::format("{},{},...,{}", first, first + step, last);
  }
  std::string text;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if ((who >> lane & 1) == 0) continue;
    uint32_t last = lane;
    while (last + 1 < 32 && (who >> (last + 1) & 1) != 0) ++last;
    text += text.empty() ? "" : ",";
    text += lane == last ? fmt::format("{}", lane) : fmt::format("{}-{}", lane, last);
    lane = last;
  }
  return text;
}

std::string role_of(const RaceSide& side) {
  switch (side.mode) {
    case AccessMode::kInit: return "barrier init";
    case AccessMode::kUse: return side.async ? "completion" : "barrier use";
    case AccessMode::kRead:
    case AccessMode::kWrite: break;
  }
  const char* path = side.tensor ? "tensor-core" : side.async ? "async" : side.strong ? "atomic" : "generic";
  return fmt::format("{} {}", path, side.mode == AccessMode::kWrite ? "write" : "read");
}

std::string sentence(Cause cause, const FindingSite& a, const FindingSite& b) {
  switch (cause) {
    case Cause::kAwaitedByAnother:
      return fmt::format("the completion is awaited, but by a thread that did not issue the copy ({})", a.agent);
    case Cause::kOnlyReadSide:
      return fmt::format("only the read side of {} was awaited, not its write", a.agent);
    case Cause::kNotPipelined:
      return "the two tensor-core operations are not pipelined";
    case Cause::kNotAwaited:
      return fmt::format("nothing makes {} wait until {} is complete", b.agent, a.agent);
    case Cause::kScope:
      return fmt::format("{} and {} synchronize, but at a scope that does not include both", a.agent, b.agent);
    case Cause::kProxyFence:
      return fmt::format("{} and {} synchronize, but no proxy fence lies between them", a.agent, b.agent);
    case Cause::kNone:
    case Cause::kNoSynchronization:
      break;
  }
  return fmt::format("no synchronization orders {} and {}", a.agent, b.agent);
}

}  // namespace

std::string GpuMachine::Impl::agent_name(AgentId id) const {
  const Agent& agent = agents[index(id)];
  uint32_t base = 0;
  for (const ThreadSpec& spec : model.threads) {
    if (agent.key.thread < base + spec.lanes) {
      if (agent.key.ordinal == 0) return spec.name;
      return fmt::format("{} {} of {}", agent.noun, agent.key.ordinal, spec.name);
    }
    base += spec.lanes;
  }
  return "unknown agent";
}

std::string GpuMachine::Impl::lanes_text(AgentId id, LaneMask who) const {
  const Agent& agent = agents[index(id)];
  if (agent.key.ordinal != 0) return "";
  uint32_t base = 0;
  for (const ThreadSpec& spec : model.threads) {
    if (agent.key.thread < base + spec.lanes) {
      if (spec.lanes == 1 || who == 0) return "";
      return fmt::format(" lane{} {}", (who & (who - 1)) == 0 ? "" : "s", mask_text(who));
    }
    base += spec.lanes;
  }
  return "";
}

std::string GpuMachine::Impl::object_name(ObjectId id) const {
  if (id == kNoObject) return "nothing";
  const Object& o = objects[index(id)];
  switch (o.sort) {
    case ObjectSort::kGranule: {
      const Range range{o.region, o.offset, 1};
      return memory.variable_name(range) + memory.range_text(range);
    }
    case ObjectSort::kMbarrier: {
      const Range range{o.region, o.offset, 8};
      std::string name = memory.variable_name(range);
      const size_t space = name.find(' ');
      return "mbarrier " + name.substr(space == std::string::npos ? 0 : space + 1) + memory.range_text(range);
    }
    case ObjectSort::kNamedBarrier:
      if (o.id >= 16) return "warp rendezvous";  // of one instruction and mask (PTX)
      return model.blocks == 1 ? fmt::format("barrier {}", o.id) : fmt::format("barrier {} of block {}", o.id, index(o.region));
    case ObjectSort::kClusterBarrier:
      return model.blocks == scopes.blocks_per_cluster ? "cluster barrier" : fmt::format("barrier of cluster {}", o.id);
    case ObjectSort::kWarpBarrier:
      return "warp rendezvous";
    case ObjectSort::kGroup:
      return "copy groups";
    case ObjectSort::kTensorMemory:
      return model.blocks == 1 ? "tensor memory" : fmt::format("tensor memory of block {}", index(o.region));
    case ObjectSort::kWarpgroup: {
      const std::string name = fmt::format("MMA group {} of warpgroup {}", o.offset & 0xffffffffU, o.offset >> 32U);
      return model.blocks == 1 ? name : fmt::format("{} of block {}", name, index(o.region));
    }
  }
  return "";
}

std::string GpuMachine::Impl::describe(const Operation& op) const {
  std::string object = op.object == kNoObject ? "" : object_name(op.object);
  if (op.object != kNoObject && objects[index(op.object)].sort == ObjectSort::kGranule) {
    const Object& o = objects[index(op.object)];
    const Range range{o.region, o.offset + op.begin, op.size};
    object = memory.variable_name(range) + memory.range_text(range);
  }
  switch (op.kind) {
    case OpKind::kLocal: return "choice";
    case OpKind::kLoad: return (op.predicate != nullptr ? "await " : "load ") + object;
    case OpKind::kStore: return fmt::format("store {} = {}", object, static_cast<int64_t>(op.operand));
    case OpKind::kUpdate: return "update " + object;
    case OpKind::kReduce: return "reduce " + object;
    case OpKind::kPlainLoad: return "read " + object;
    case OpKind::kPlainStore: return "write " + object;
    case OpKind::kBarrierInit: return fmt::format("init {} with {} arrivals", object, op.operand);
    case OpKind::kBarrierInval: return "inval " + object;
    case OpKind::kArrive:
      if (op.bytes != 0) return fmt::format("arrive {}, expect {} bytes", object, op.bytes);
      return op.operand == 1 ? "arrive " + object : fmt::format("{} arrive {}", op.operand, object);
    case OpKind::kExpectTx: return fmt::format("expect {} bytes at {}", op.bytes, object);
    case OpKind::kCompleteTx: return fmt::format("complete {} bytes at {}", op.bytes, object);
    case OpKind::kWaitPhase: return fmt::format("wait {} phase {}", object, op.operand);
    case OpKind::kWaitParity: return fmt::format("wait {} parity {}", object, op.operand & 1);
    case OpKind::kBarrierArrive: return "arrive " + object;
    case OpKind::kBarrierExit: return "exit";
    case OpKind::kReadDone: return "read side done";
    case OpKind::kCopyDone: return "done";
    case OpKind::kWaitRead: return "wait for the read side of copies";
    case OpKind::kWaitGroup: return "wait for copies";
    case OpKind::kTensorAlloc: return fmt::format("allocate {} columns of {}", op.operand, object);
    case OpKind::kTensorFree: return fmt::format("free columns {}..{} of {}", op.operand, static_cast<int64_t>(op.operand) + op.bytes - 1, object);
    case OpKind::kTensorRelinquish: return "relinquish the right to allocate " + object;
  }
  return "";
}

FindingSite GpuMachine::Impl::site_of(AgentId agent, LaneMask who, std::string role, SiteId site) const {
  return {agent_name(agent) + lanes_text(agent, who), std::move(role), site, agent, run.steps};
}

void GpuMachine::Impl::report(FindingKind kind, std::string object, std::string message, std::vector<FindingSite> sites,
                              bool strict) {
  cache_valid = false;
  Finding finding;
  finding.kind = kind;
  finding.strict = strict;
  finding.after_race = run.race_seen;
  finding.object = std::move(object);
  finding.message = std::move(message);
  finding.sites = std::move(sites);
  const bool known = std::any_of(found.begin(), found.end(), [&](const Finding& f) {
    return same_finding(f, finding) && (!f.strict || finding.strict);
  });
  if (known) return;
  found.push_back(std::move(finding));
  ++now().found;
}

Finding GpuMachine::Impl::written(const RawRace& race) const {
  Finding finding;
  finding.kind = FindingKind::kRace;
  finding.cause = race.cause;
  finding.strict = race.strict;
  finding.after_race = race.after_race;
  const Range range{race.region, race.begin, static_cast<uint32_t>(race.end - race.begin)};
  finding.object = memory.variable_name(range);
  finding.range = memory.range_text(range);
  for (const RaceSide& side : race.sides) {
    finding.sites.push_back({agent_name(side.agent) + lanes_text(side.agent, side.lanes), role_of(side), side.site,
                             side.agent, side.step});
  }
  finding.message = sentence(race.cause, finding.sites[0], finding.sites[1]);
  return finding;
}

uint32_t GpuMachine::Impl::record_event(AgentId agent, bool visible, SiteId site, std::string text, std::string object) {
  RecordedEvent made;
  made.agent = agent;
  made.step = run.steps;
  made.visible = visible;
  made.text = std::move(text);
  made.object = std::move(object);
  made.site = site;
  recorded.push_back(std::move(made));
  return static_cast<uint32_t>(recorded.size() - 1);
}

void GpuMachine::Impl::record_lanes(const Thread& t, uint32_t at, LaneMask who) {
  const uint32_t count = model.threads[t.spec].lanes;
  const LaneMask all = count >= 32 ? ~LaneMask{0} : (LaneMask{1} << count) - 1;
  recorded[at].lanes = who == 0 || (who & all) == all ? "" : lanes_text(t.agent, who).substr(1);
}

// The accesses of one instruction are one recorded event; adjoining ranges grow together.
void GpuMachine::Impl::record_access(Thread& t, uint32_t lane, AccessMode mode, Range range) {
  const char* verb = mode == AccessMode::kRead ? "read " : "write ";
  t.event_lanes = (t.event == 0 ? 0 : t.event_lanes) | LaneMask{1} << lane;
  if (t.event == 0) {
    t.event = record_event(t.agent, false, t.site, verb + memory.variable_name(range) + memory.range_text(range),
                           memory.variable_name(range)) + 1;
    t.first_access = range;
    record_lanes(t, t.event - 1, t.event_lanes);
    return;
  }
  record_lanes(t, t.event - 1, t.event_lanes);
  const uint64_t end = std::max(t.first_access.offset + t.first_access.bytes, range.offset + range.bytes);
  if (range.region != t.first_access.region) return;
  t.first_access.offset = std::min(t.first_access.offset, range.offset);
  t.first_access.bytes = static_cast<uint32_t>(end - t.first_access.offset);
  recorded[t.event - 1].text = verb + memory.variable_name(t.first_access) + memory.range_text(t.first_access);
}

// --- the seam ---------------------------------------------------------------------------------------------------------

std::string GpuMachine::name(AgentId agent) const { return impl_->agent_name(agent); }
std::string GpuMachine::name(ObjectId object) const { return impl_->object_name(object); }
std::string GpuMachine::describe(AgentId, const Operation& op) const { return impl_->describe(op); }

std::span<const Finding> GpuMachine::findings() const {
  Impl& m = *impl_;
  if (!m.cache_valid) {
    m.findings_cache.clear();
    for (const RawRace& race : m.races) m.findings_cache.push_back(m.written(race));
    m.findings_cache.insert(m.findings_cache.end(), m.found.begin(), m.found.end());
    m.cache_valid = true;
  }
  return m.findings_cache;
}

void GpuMachine::report(Finding finding) {
  impl_->cache_valid = false;
  finding.after_race = impl_->run.race_seen;
  const bool known = std::any_of(impl_->found.begin(), impl_->found.end(), [&](const Finding& f) {
    return same_finding(f, finding) && (!f.strict || finding.strict);
  });
  if (known) return;
  impl_->found.push_back(std::move(finding));
  ++impl_->now().found;
}

FindingSite GpuMachine::site_of_thread(ThreadId thread, LaneMask lanes, std::string role, SiteId site) const {
  return impl_->site_of(impl_->threads[index(thread)].agent, lanes, std::move(role), site);
}
std::span<const uint8_t> GpuMachine::bytes(RegionId region) const { return impl_->memory.bytes(region); }
bool GpuMachine::initialized(RegionId region, uint64_t offset) const {
  return impl_->memory.tag(region, offset) != ValueTag::kUninitialized;
}
std::string GpuMachine::range_name(Range range) const {
  return impl_->memory.variable_name(range) + impl_->memory.range_text(range);
}

}  // namespace warpcheck
