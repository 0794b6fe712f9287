#include "explorer/sleep_set.h"

#include <algorithm>

#include "model/check.h"
#include "model/dependence.h"

namespace warpcheck {

void SleepSets::clear() {
  sleepers_.clear();
  begins_.assign(1, 0);
  ++stamp_;
}

void SleepSets::mark(AgentId agent) {
  if (index(agent) >= stamps_.size()) stamps_.resize(index(agent) + size_t{1}, 0);
  stamps_[index(agent)] = stamp_;
}

void SleepSets::push(const Event& event) {
  ++stamp_;
  const size_t begin = begins_.back(), end = sleepers_.size();
  begins_.push_back(static_cast<uint32_t>(end));
  for (size_t i = begin; i < end; ++i) {
    const Sleeper& sleeper = sleepers_[i];
    if (sleeper.agent == event.agent) continue;
    if (sleeper.op.object == event.op.object && dependent(event, sleeper.op)) continue;
    mark(sleeper.agent);
    sleepers_.push_back(Sleeper(sleeper));
  }
}

void SleepSets::pop() {
  sleepers_.resize(begins_.back());
  begins_.pop_back();
  ++stamp_;
  for (const Sleeper& sleeper : at(frames() - 1)) mark(sleeper.agent);
}

void SleepSets::add(AgentId agent, uint16_t choice, uint32_t since, const Operation& op) {
  CHECK(!is_asleep(agent, choice));
  mark(agent);
  sleepers_.push_back({agent, choice, since, op});
}

bool SleepSets::is_asleep(AgentId agent, uint16_t choice) const {
  if (index(agent) >= stamps_.size() || stamps_[index(agent)] != stamp_) return false;
  const std::span<const Sleeper> sleepers = at(frames() - 1);
  return std::any_of(sleepers.begin(), sleepers.end(),
                     [&](const Sleeper& sleeper) { return sleeper.agent == agent && sleeper.choice == choice; });
}

uint32_t SleepSets::choices_asleep(uint32_t frame, AgentId agent, uint32_t since) const {
  const std::span<const Sleeper> sleepers = at(frame);
  return static_cast<uint32_t>(std::count_if(sleepers.begin(), sleepers.end(),
                                             [&](const Sleeper& s) { return s.agent == agent && s.since >= since; }));
}

std::span<const Sleeper> SleepSets::at(uint32_t frame) const {
  const size_t begin = begins_[frame];
  const size_t end = frame + 1 < begins_.size() ? begins_[frame + 1] : sleepers_.size();
  return std::span<const Sleeper>(sleepers_).subspan(begin, end - begin);
}

}  // namespace warpcheck
