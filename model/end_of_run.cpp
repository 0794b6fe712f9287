// What can only be said when no agent is able to step any more.
#include <fmt/format.h>

#include <algorithm>

#include "model/gpu_machine_impl.h"

namespace warpcheck {

void GpuMachine::Impl::finish() {
  cache_valid = false;
  const bool deadlocked = std::any_of(alive.begin(), alive.end(), [&](AgentId id) {
    return agents[index(id)].transition.status == Transition::Status::kBlocked;
  });
  // A blocked thread would read the word that it waits for.
  for (const AgentId id : alive) {
    if (confined_to.empty()) break;
    const Operation& op = agents[index(id)].transition.op;
    if (agents[index(id)].transition.status != Transition::Status::kBlocked || op.object == kNoObject) continue;
    const Object& o = object(op.object);
    if (o.sort != ObjectSort::kGranule) continue;
    note_footprint(threads[agents[index(id)].index].block, AccessMode::kRead, {o.region, o.offset + op.begin, op.size});
  }
  // A run that was cut short, at something unsupported or a limit, waits for what would have come: that says nothing.
  const bool cut_short =
      std::any_of(found.begin(), found.end(), [](const Finding& f) { return makes_incomplete(f.kind); });
  if (cut_short) {
    bodies->end_of_run(self, deadlocked);
    return;
  }
  if (deadlocked) {
    report_deadlock();
  } else {
    check_operations();
    check_barriers();
    check_lifetimes();
    check_tensor_memory();
  }
  bodies->end_of_run(self, deadlocked);
}

std::string GpuMachine::Impl::waiting_for(AgentId id) {
  const Operation& op = agents[index(id)].transition.op;
  const Object& o = objects[index(op.object)];
  switch (op.kind) {
    case OpKind::kWaitPhase:
    case OpKind::kWaitParity: {
      const std::string phase = op.kind == OpKind::kWaitPhase ? fmt::format("phase {}", op.operand)
                                                              : fmt::format("the phase of parity {}", op.operand & 1);
      if (!o.state.live) return fmt::format("waits for {} of {}, which is not initialized", phase, object_name(op.object));
      if (o.sort != ObjectSort::kMbarrier) {
        const int32_t needed = o.state.awaited < 0 ? o.state.expected : o.state.awaited;
        return fmt::format("waits at {}: {} of {} threads have arrived", object_name(op.object), o.state.pending, needed);
      }
      std::string state = fmt::format("phase {} is running, {} of {} arrivals pending", o.state.phase, o.state.pending,
                                      o.state.expected);
      if (o.state.tx != 0) state += fmt::format(", {} bytes", o.state.tx);
      return fmt::format("waits for {} of {} ({})", phase, object_name(op.object), state);
    }
    case OpKind::kTensorAlloc:
      return fmt::format("waits for {} free columns of {}", op.operand, object_name(op.object));
    case OpKind::kWaitGroup:
    case OpKind::kWaitRead:
      return "waits for its asynchronous copies";
    default:
      return fmt::format("waits for {} to change", object_name(op.object));
  }
}

void GpuMachine::Impl::report_deadlock() {
  std::string message;
  std::vector<FindingSite> sites;
  std::string object_text;
  for (const AgentId id : alive) {
    const Agent& agent = agents[index(id)];
    if (agent.transition.status != Transition::Status::kBlocked) continue;
    const LaneMask who = agent.is_thread ? threads[agent.index].lanes : 1;
    const FindingSite site = site_of(id, who, "waits", agent.visible.site);
    message += fmt::format("{}{} {}", message.empty() ? "" : "; ", site.agent, waiting_for(id));
    if (object_text.empty()) object_text = object_name(agent.transition.op.object);
    const bool same = std::any_of(sites.begin(), sites.end(), [&](const FindingSite& s) { return s.site == site.site; });
    if (!same) sites.push_back(site);
    if (objects[index(agent.transition.op.object)].sort != ObjectSort::kWarpgroup) continue;
    report(FindingKind::kDivergence, object_name(agent.transition.op.object), "not all warps of the warpgroup issue this group of MMAs",
           {site_of(id, who, "wait", agent.visible.site)});
  }
  std::sort(sites.begin(), sites.end(), [](const FindingSite& a, const FindingSite& b) { return a.site < b.site; });
  report(FindingKind::kDeadlock, object_text, message, std::move(sites));
}

// An operation on a block's shared memory must be known to be over when the block ends: its read side, and for a copy
// into shared memory the write.
void GpuMachine::Impl::check_operations() {
  for (uint32_t i = 0; i < run.ops_used; ++i) {
    const AsyncOp& op = ops[i];
    const auto unawaited = [&](const std::vector<Range>& pieces, uint32_t tick) {
      return std::any_of(pieces.begin(), pieces.end(), [&](const Range& piece) {
        if (piece.region == kNoRegion || memory.spec(piece.region).space != Space::kShared) return false;
        const RegionSpec& region = memory.spec(piece.region);
        const BundleId end = block_end[region.block];
        return end == kNoBundle || pool.row(end, kControl)[op.component] < tick;
      });
    };
    const bool write = unawaited(op.copy.writes, 2);
    if (!write && !unawaited(op.copy.reads, 1)) continue;
    const Range piece = write ? op.copy.writes.front() : op.copy.reads.front();
    report(FindingKind::kUnawaitedAsync, memory.variable_name(piece),
           write ? "the block may end before an asynchronous copy has written its shared memory"
                 : "Not all copy_smem_to_gmem read-side operations completed before kernel finished",
           {site_of(op.agent, 1, write ? "async write" : "async read", op.copy.site)});
  }
}

void GpuMachine::Impl::check_barriers() {
  for (uint32_t i = 0; i < objects.size(); ++i) {
    const Object& o = objects[i];
    const ObjectId id{i};
    for (const auto& [site, user] : o.dead_uses) {
      report(FindingKind::kBarrierMisuse, object_name(id), "a use of an mbarrier that is not initialized",
             {site_of(user, agents[index(user)].is_thread ? threads[agents[index(user)].index].lanes : 1, "use", site)});
    }
    if (o.sort != ObjectSort::kMbarrier || !o.state.live) continue;
    if (o.state.tx != 0) {
      report(FindingKind::kBarrierMisuse, object_name(id),
             fmt::format("{} transaction bytes are pending at the end", o.state.tx), {});
    }
    if (o.state.pending != o.state.expected) {
      report(FindingKind::kBarrierMisuse, object_name(id), "arrivals of an unfinished phase are pending at the end", {},
             !o.own_phase_waits);
    }
  }
  std::vector<std::pair<ObjectId, AgentId>> behind;
  for (const Thread& t : threads) {
    if (!t.exists) continue;
    for (const OwnPhase& own : t.own_phases) {
      if (own.next > 0 && objects[index(own.barrier)].state.phase >= own.next + 2) behind.emplace_back(own.barrier, t.agent);
    }
  }
  for (const auto& [barrier, agent] : behind) {
    report(FindingKind::kBarrierMisuse, object_name(barrier), "a waiting thread can no longer observe a phase",
           {site_of(agent, threads[agents[index(agent)].index].lanes, "wait", kNoSite)});
  }
}

void GpuMachine::Impl::check_lifetimes() {
  for (const RemoteAccess& access : remote_accesses) {
    const BundleId end = block_end[access.owner];
    bool known = end != kNoBundle;
    for_lanes(access.lanes, [&](uint32_t lane) {
      known = known && pool.row(end, kControl)[access.component + lane] >= access.tick;
    });
    if (known) continue;
    report(FindingKind::kLifetime, memory.variable_name(access.range),
           "the block that owns this shared memory may have exited",
           {site_of(access.agent, access.lanes, access.write ? "remote write" : "remote read", access.site)});
  }
}

}  // namespace warpcheck
