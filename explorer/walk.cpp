#include "explorer/walk.h"

#include <algorithm>
#include <random>
#include <string>

#include "explorer/execution.h"

namespace warpcheck {

namespace {

constexpr uint64_t kFirstGuess = 100;  // steps of an execution, before one was seen

class Walker {
 public:
  Walker(const Program& program, const ExploreOptions& options, Tally& tally)
      : options_(options), tally_(tally), machine_(program.make_machine()), random_(options.seed) {}

  // False when there is no time for the rest.
  bool run() {
    execution_.clear();
    machine_->reset();
    bear();
    draw_priorities();
    for (;;) {
      enabled_.clear();
      for (AgentId agent : machine_->agents()) {
        if (machine_->pending(agent).status == Transition::Status::kEnabled) enabled_.push_back(agent);
      }
      if (enabled_.empty()) break;
      if (execution_.size() >= options_.max_steps) {
        end(Tally::End::kCut);
        return true;
      }
      if (tally_.out_of_time()) return false;
      const AgentId agent = options_.pct_depth == 0 ? enabled_[below(enabled_.size())] : highest();
      const uint16_t choices = machine_->pending(agent).op.choices;
      execution_.push(machine_->step(agent, static_cast<uint16_t>(choices == 1 ? 0 : below(choices))));
      bear();
    }
    machine_->finish();
    end(Tally::End::kComplete);
    return true;
  }

  const Machine& machine() const { return *machine_; }

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }

  void bear() {
    for (AgentId agent : machine_->born()) {
      execution_.bear(agent);
      if (index(agent) >= priorities_.size()) priorities_.resize(index(agent) + size_t{1});
      priorities_[index(agent)] = options_.pct_depth + random_() / 2;
    }
  }

  void draw_priorities() {
    changes_.clear();
    for (unsigned i = 1; i < options_.pct_depth; ++i) changes_.push_back(below(std::max(longest_, uint64_t{1})));
  }

  AgentId highest() {
    const auto lower = [this](AgentId a, AgentId b) { return priorities_[index(a)] < priorities_[index(b)]; };
    const AgentId agent = *std::max_element(enabled_.begin(), enabled_.end(), lower);
    for (size_t i = 0; i < changes_.size(); ++i) {
      if (changes_[i] != execution_.size()) continue;
      changes_[i] = UINT64_MAX;
      priorities_[index(agent)] = i;
      return highest();
    }
    return agent;
  }

  void end(Tally::End how) {
    longest_ = seen_ ? std::max<uint64_t>(longest_, execution_.size()) : execution_.size();
    seen_ = true;
    const ExecutionView view{execution_.events(),
                             [this](size_t event, AgentId agent) {
                               return execution_.past(static_cast<EventIndex>(event), agent);
                             },
                             *machine_, false};
    const auto schedule = [this] {
      Schedule steps;
      for (const Event& event : execution_.events()) steps.push_back({machine_->key(event.agent), event.choice});
      return steps;
    };
    tally_.add({how, execution_.size(), machine_->findings(), schedule, &view});
  }

  const ExploreOptions& options_;
  Tally& tally_;
  std::unique_ptr<Machine> machine_;
  std::mt19937_64 random_;
  Execution execution_;
  std::vector<AgentId> enabled_;
  std::vector<uint64_t> priorities_;  // by agent; those that fell have the number of their change
  std::vector<uint64_t> changes_;     // PCT: the steps before which the running agent falls
  uint64_t longest_ = kFirstGuess;
  bool seen_ = false;
};

}  // namespace

void walk(const Program& program, const ExploreOptions& options, Tally& tally) {
  Walker walker(program, options, tally);
  for (uint64_t i = 0; i < options.walks && walker.run() && tally.may_go_on(); ++i) {
  }
  tally.note_reached(walker.machine());
  std::string what = std::to_string(options.walks) + " random executions, seed " + std::to_string(options.seed);
  if (options.pct_depth != 0) what += ", PCT of depth " + std::to_string(options.pct_depth);
  tally.note_lasting_bound(what);
}

}  // namespace warpcheck
