#include "explorer/apart.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <optional>

#include "explorer/tally.h"

namespace warpcheck {
namespace {

using Group = std::vector<bool>;  // by part

// The same program, of which only some parts run.
class Confined final : public Program {
 public:
  Confined(const Program& whole, Group parts) : whole_(whole), parts_(std::move(parts)) {}
  std::unique_ptr<Machine> make_machine() const override {
    auto machine = whole_.make_machine();
    machine->confine(parts_);
    return machine;
  }
  std::string name() const override { return whole_.name(); }
  Site site(SiteId id) const override { return whole_.site(id); }

 private:
  const Program& whole_;
  const Group parts_;
};

// Takes the first agent that can step until none can. False at the bound.
bool run_on(Machine& machine, uint64_t max_steps, Schedule* schedule) {
  for (uint64_t step = 0; step < max_steps; ++step) {
    const auto agents = machine.agents();
    const auto next = std::find_if(agents.begin(), agents.end(), [&](AgentId agent) {
      return machine.pending(agent).status == Transition::Status::kEnabled;
    });
    if (next == agents.end()) {
      machine.finish();
      return true;
    }
    if (schedule != nullptr) schedule->push_back({machine.key(*next), 0});
    machine.step(*next, 0);
  }
  return false;
}

class Apart {
 public:
  Apart(const Program& program, const ExploreOptions& options)
      : program_(program), options_(options), group_of_(program.parts()) {
    std::iota(group_of_.begin(), group_of_.end(), 0U);
  }

  ExploreResult run() {
    if (!meet_once()) return whole();
    while (auto next = unexplored()) {
      if (groups() == 1) return whole();
      const ExploreResult result = explore_group(*next);
      if (!take_findings(result)) return whole();
      if (!result.complete) return sum();
      join_those_that_meet();
    }
    return expectations_hold() ? sum() : whole();
  }

 private:
  // One execution of the whole program. False if it told nothing.
  bool meet_once() {
    const auto machine = program_.make_machine();
    machine->confine(Group(group_of_.size(), true));
    machine->reset();
    if (!run_on(*machine, options_.max_steps, nullptr)) return false;
    join(machine->footprints().parts);
    return true;
  }

  std::optional<uint32_t> unexplored() const {
    for (const uint32_t group : group_of_) {
      if (!explored_.contains(group)) return group;
    }
    return {};
  }

  size_t groups() const {
    size_t count = 0;
    for (uint32_t part = 0; part < group_of_.size(); ++part) count += group_of_[part] == part ? 1 : 0;
    return count;
  }

  ExploreResult explore_group(uint32_t group) {
    Group parts(group_of_.size());
    for (size_t part = 0; part < parts.size(); ++part) parts[part] = group_of_[part] == group;
    const ExploreResult& result = explored_[group] = explore(Confined(program_, std::move(parts)), left());
    executions_ += result.executions;
    return result;
  }

  // What is left of the bounds, for one more exploration.
  ExploreOptions left() const {
    ExploreOptions options = options_;
    options.exact_counts = true;
    if (options.max_executions != 0) {
      options.max_executions = options.max_executions > executions_ ? options.max_executions - executions_ : 1;
    }
    if (options.max_seconds > 0) options.max_seconds = std::max(1e-3, options.max_seconds - seconds());
    return options;
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  // Keeps the findings that the whole program shows as well. False if it does not show one.
  bool take_findings(const ExploreResult& result) {
    for (const FoundFinding& found : result.findings) {
      FoundFinding confirmed = found;
      const auto machine = program_.make_machine();
      machine->reset();
      for (const Choice& choice : found.schedule) {
        const AgentId agent = machine->agent(choice.agent);
        const Transition& pending = machine->pending(agent);
        if (pending.status != Transition::Status::kEnabled || choice.choice >= pending.op.choices) return false;
        machine->step(agent, choice.choice);
      }
      run_on(*machine, options_.max_steps, &confirmed.schedule);
      const auto shown = machine->findings();
      const bool is_shown = std::any_of(shown.begin(), shown.end(), [&](const Finding& f) {
        return same_finding(f, found.finding) && f.strict == found.finding.strict;
      });
      if (!is_shown) return false;
      confirmed_.push_back(std::move(confirmed));
    }
    return true;
  }

  void join(const std::vector<Footprint>& parts) {
    for (uint32_t a = 0; a < parts.size(); ++a) {
      for (uint32_t b = a + 1; b < parts.size(); ++b) {
        if (group_of_[a] == group_of_[b] || !conflict(parts[a], parts[b])) continue;
        const uint32_t stays = std::min(group_of_[a], group_of_[b]), goes = std::max(group_of_[a], group_of_[b]);
        std::replace(group_of_.begin(), group_of_.end(), goes, stays);
        explored_.erase(stays);
        explored_.erase(goes);
      }
    }
  }

  Footprints all() const {
    Footprints all;
    for (const auto& [group, result] : explored_) all.add(result.footprints);
    return all;
  }

  void join_those_that_meet() { join(all().parts); }

  // Whether each byte that a group left other than expected is another group's to write.
  bool expectations_hold() const {
    const Footprints seen = all();
    for (const auto& [group, result] : explored_) {
      const auto& unmet = result.footprints.unmet;
      for (size_t region = 0; region < unmet.size(); ++region) {
        ByteSet left = unmet[region];
        for (size_t part = 0; part < seen.parts.size(); ++part) {
          if (group_of_[part] == group || region >= seen.parts[part].written.size()) continue;
          left -= seen.parts[part].written[region];
        }
        if (!left.empty()) return false;
      }
    }
    return true;
  }

  ExploreResult whole() const {
    ExploreResult result = explore(program_, left());
    result.seconds = seconds();
    return result;
  }

  ExploreResult sum() const {
    ExploreResult total;
    total.reduction = options_.reduction;
    total.complete = true;
    total.workers = 0;
    std::string terms;
    for (const auto& [group, result] : explored_) {
      total.executions += result.executions;
      total.blocked += result.blocked;
      total.events += result.events;
      total.max_depth = std::max(total.max_depth, result.max_depth);
      total.workers = std::max(total.workers, result.workers);
      total.complete = total.complete && result.complete;
      for (const std::string& bound : result.bounds_hit) {
        if (std::find(total.bounds_hit.begin(), total.bounds_hit.end(), bound) == total.bounds_hit.end()) {
          total.bounds_hit.push_back(bound);
        }
      }
      total.reached.resize(std::max(total.reached.size(), result.reached.size()));
      for (size_t i = 0; i < result.reached.size(); ++i) total.reached[i] = total.reached[i] || result.reached[i];
    }
    total.complete = total.complete && explored_.size() == groups();
    total.merged.push_back(std::to_string(groups()) + " groups of " + std::to_string(group_of_.size()) +
                           " clusters share no memory and were explored apart");
    for (const FoundFinding& found : confirmed_) {
      auto known = std::find_if(total.findings.begin(), total.findings.end(), [&](const FoundFinding& f) {
        return same_finding(f.finding, found.finding);
      });
      if (known == total.findings.end()) {
        total.findings.push_back(found);
      } else if (known->finding.strict && !found.finding.strict) {
        *known = found;
      }
    }
    settle(total, options_);
    total.seconds = seconds();
    return total;
  }

  const Program& program_;
  const ExploreOptions& options_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<uint32_t> group_of_;  // by part: its group's least part
  std::map<uint32_t, ExploreResult> explored_;
  std::vector<FoundFinding> confirmed_;
  uint64_t executions_ = 0;
};

}  // namespace

ExploreResult explore_apart(const Program& program, const ExploreOptions& options) {
  return Apart(program, options).run();
}

}  // namespace warpcheck
