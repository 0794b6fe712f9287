// Digests of a machine's state: of what the kernel computed (fingerprint), and of everything that can still matter
// (state_digest). Sums of hashes where order means nothing; clock components of operations count by their agent's key, so
// that the order of creation means nothing either.
#include <algorithm>
#include <functional>
#include <string_view>

#include "model/gpu_machine_impl.h"

namespace warpcheck {
namespace {

class Hash {
 public:
  Hash& add(uint64_t value) {
    state_ = (state_ ^ value) * 0x9e3779b97f4a7c15ULL;
    state_ ^= state_ >> 29U;
    return *this;
  }
  Hash& add(std::string_view text) { return add(std::hash<std::string_view>{}(text)); }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0x243f6a8885a308d3ULL;
};

uint64_t hash_object(const Object& o) {
  const ObjectState& s = o.state;
  Hash h;
  h.add(static_cast<uint64_t>(o.sort)).add(index(o.region)).add(o.offset).add(s.phase);
  if (o.sort == ObjectSort::kTensorMemory) h.add(s.word[0]).add(s.word[1]);
  h.add(static_cast<uint64_t>(s.pending)).add(static_cast<uint64_t>(s.expected)).add(static_cast<uint64_t>(s.tx));
  return h.add(static_cast<uint64_t>(s.awaited)).add(s.live ? 1 : 0).value();
}

// Hashes bundles of one machine.
class ClockHash {
 public:
  explicit ClockHash(const GpuMachine::Impl& machine);

  uint64_t component(uint32_t number) const { return keys_[number]; }

  uint64_t row(BundleId bundle, ClockKind kind) const {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < machine_.run.components; ++i) {
      const uint32_t tick = machine_.pool.row(bundle, kind)[i];
      if (tick != 0) sum += Hash().add(keys_[i]).add(tick).value();
    }
    return sum;
  }

  uint64_t bundle(BundleId id) const {
    if (id == kNoBundle) return 0;
    Hash h;
    // Nobody takes the tensor row of what was released.
    const uint32_t rows = std::min<uint32_t>(machine_.pool.rows(), kTensor);
    for (uint32_t kind = 0; kind < rows; ++kind) h.add(row(id, static_cast<ClockKind>(kind)));
    return h.value();
  }

  uint64_t list(const ReleaseList& list) const {
    uint64_t sum = bundle(list.control);
    for (const Release& release : list.releases) {
      Hash h;
      h.add(release.block).add(static_cast<uint64_t>(release.scope)).add(release.thread).add(bundle(release.bundle));
      sum += h.value();
    }
    for (const Completion& done : list.completions) sum += Hash().add(keys_[done.component]).add(done.tick).value();
    return sum;
  }

 private:
  const GpuMachine::Impl& machine_;
  std::vector<uint64_t> keys_;  // by component
};

ClockHash::ClockHash(const GpuMachine::Impl& machine) : machine_(machine), keys_(machine.run.components) {
  for (uint32_t i = 0; i < machine.thread_components; ++i) keys_[i] = i;
  for (uint32_t i = 0; i < machine.run.ops_used; ++i) {
    const AgentKey& key = machine.agents[index(machine.ops[i].agent)].key;
    keys_[machine.ops[i].component] = Hash().add(key.thread).add(key.ordinal).add(key.block).value();
  }
  for (const TensorQueueState& queue : machine.tensor_queues) {
    keys_[queue.component] = Hash().add(queue.owner).add(1U + static_cast<uint64_t>(queue.queue)).add("queue").value();
  }
}

uint64_t hash_observation(const ClockHash& clocks, const Observation& seen) {
  return Hash().add(clocks.component(seen.component)).add(seen.tick).add(seen.lanes).add(seen.bit).value();
}

uint64_t hash_contents(const ClockHash& clocks, const Object& o) {
  uint64_t sum = hash_object(o);
  for (size_t phase = 0; phase < o.phases.size(); ++phase) sum += Hash().add(phase).add(clocks.list(o.phases[phase])).value();
  for (const Observation& seen : o.observations) sum += hash_observation(clocks, seen);
  for (const Observation& wait : o.parity_waits) sum += hash_observation(clocks, wait);
  for (const WordCell& cell : o.words) {
    sum += Hash().add(o.offset).add(cell.begin).add(cell.size).add(clocks.list(cell.released)).value();
  }
  return sum + clocks.bundle(o.arrivals_control);
}

}  // namespace

namespace {

// A machine keeps the objects of earlier runs: those that this run has not used must not count.
bool untouched(const Object& o) {
  const ObjectState& s = o.state;
  if (o.sort == ObjectSort::kMbarrier) return !o.ever_live;
  if (o.sort == ObjectSort::kTensorMemory) return s.word[0] == 0;
  return s.phase == 0 && s.pending == 0 && s.awaited == 0;
}

}  // namespace

uint64_t GpuMachine::fingerprint() const {
  uint64_t sum = impl_->memory.digest();
  for (const Object& o : impl_->objects) {
    if (o.sort != ObjectSort::kGranule && o.sort != ObjectSort::kGroup && !untouched(o)) sum += hash_object(o);
  }
  return sum;
}

// Agents and objects that were numbered after the image was taken count only once they are used.
uint64_t GpuMachine::state_image() const {
  const Impl& m = *impl_;
  Hash h;
  const auto add = [&](const void* at, size_t bytes) { h.add(std::string_view(static_cast<const char*>(at), bytes)); };
  m.journal.for_memory([&](std::span<const uint8_t> bytes) { add(bytes.data(), bytes.size()); });
  add(&m.run, sizeof m.run);
  add(&m.pool, sizeof m.pool);
  for (const Shadow& shadow : m.shadows) add(&shadow, sizeof shadow);
  for (const Thread& t : m.threads) add(&t, sizeof t);
  for (const Lane& lane : m.lanes) add(&lane, sizeof lane);
  for (uint32_t i = 0; i < m.run.ops_used; ++i) add(static_cast<const AsyncState*>(&m.ops[i]), sizeof(AsyncState));
  for (const auto& live : m.live_barriers) add(&live, sizeof live);
  add(&m.alive, sizeof m.alive);
  add(&m.group_waits, sizeof m.group_waits);
  add(&m.map_fences, sizeof m.map_fences);
  add(&m.remote_accesses, sizeof m.remote_accesses);
  add(&m.races, sizeof m.races);
  add(&m.held, sizeof m.held);
  add(&m.load_effects, sizeof m.load_effects);
  add(m.block_end.data(), m.block_end.size() * sizeof(BundleId));
  for (const Agent& agent : m.agents) {
    if (agent.saved != 0) add(&agent, sizeof agent);
  }
  for (const Object& o : m.objects) {
    if (o.saved != 0 || !o.words.empty()) add(&o, sizeof o);
  }
  return h.add(m.memory.digest()).add(m.found.size()).value();
}

uint64_t GpuMachine::state_digest() const {
  const Impl& m = *impl_;
  const ClockHash clocks(m);
  uint64_t sum = m.memory.digest();
  for (const Object& o : m.objects) {
    if (o.saved != 0 || !o.words.empty()) sum += hash_contents(clocks, o);  // others were only numbered
  }
  for (const Thread& t : m.threads) {
    if (!t.exists) continue;
    for_lanes(t.lanes, [&](uint32_t lane) {
      const ClockView view = t.clocks.view(m.pool, lane);
      for (uint32_t kind = 0; kind < m.pool.rows(); ++kind) {
        for (uint32_t i = 0; i < m.run.components; ++i) {
          const uint32_t tick = view.at(static_cast<ClockKind>(kind), i);
          if (tick != 0) sum += Hash().add(t.base + lane).add(kind).add(clocks.component(i)).add(tick).value();
        }
      }
    });
  }
  for (uint32_t i = 0; i < m.run.ops_used; ++i) {
    const AsyncOp& op = m.ops[i];
    sum += Hash().add(clocks.component(op.component)).add(clocks.bundle(op.bundle)).add(op.done ? 1 : 0).value();
  }
  for (const AgentId id : m.alive) {
    const Agent& agent = m.agents[index(id)];
    sum += Hash().add(agent.key.thread).add(agent.key.ordinal).add(static_cast<uint64_t>(agent.transition.status)).value();
  }
  for (const Finding& finding : findings()) sum += Hash().add(finding.object).add(static_cast<uint64_t>(finding.kind)).value();
  return sum;
}

}  // namespace warpcheck
