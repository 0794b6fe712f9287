// The seam between search and semantics. A Program makes Machines; a Machine runs one execution at a time, one visible
// step at a time, deterministically: the same choices, the same events.
//
// An execution: reset(); then step(agent) for agents whose pending transition is enabled, until none is; then finish().
// Agents are born during steps (asynchronous operations when they are issued, fragments of a warp when lanes part): an
// agent's first event depends on the step that bore it. Findings of the run so far can be read at any time.
//
// A Program may be used from many threads; a Machine belongs to one, and never moves between OS threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/finding.h"
#include "model/footprint.h"
#include "model/operation.h"

namespace warpcheck {

// One visible step or plain access of a run, as people see it; only made while recording.
struct RecordedEvent {
  AgentId agent = kNoAgent;
  AgentId born_by = kNoAgent;      // for the first event of an agent: who issued it
  uint32_t step = 0;               // number of visible steps before it; a plain access belongs to the step before it
  bool visible = true;             // a step of the schedule; else a plain access, a fence, an issue
  std::string text;                // "arrive empty[0] -> phase 1", "write ring[0][0..31]"
  std::string object;              // name of the object or memory range touched
  SiteId site = kNoSite;
  std::string lanes;               // "lane 0", "lanes 1-31" of a warp; "" when all took part, or for no warp
  bool releases = true;            // false: a relaxed write that no fence precedes; who sees it is ordered after nothing
  std::vector<uint32_t> after;     // indices of recorded events that this one synchronizes with (acquired from)
};

class Machine {
 public:
  virtual ~Machine() = default;

  // Starts a fresh run. All agents that exist from the start are pending afterwards.
  virtual void reset() = 0;

  // Agents that exist in this run, in the order in which they were born; finished ones included.
  virtual std::span<const AgentId> agents() const = 0;

  virtual const Transition& pending(AgentId agent) const = 0;

  // Takes the agent's pending transition, which must be enabled; choice < op.choices. The reference lives until the next
  // step or reset.
  virtual const Event& step(AgentId agent, uint16_t choice = 0) = 0;

  // Agents whose pending transition differs from what it was before the last step (or before the reset): status or
  // operation. Includes the stepping agent and the newborn.
  virtual std::span<const AgentId> changed() const = 0;

  // Agents born in the last step (after reset: all initial ones).
  virtual std::span<const AgentId> born() const = 0;

  // Ends the run when no agent is enabled: deadlock, unfinished operations, final memory. Adds to findings().
  virtual void finish() = 0;

  // Goes back to the state after the run's first `steps` steps, fewer than were taken, as if the later ones had not been;
  // changed() and born() are empty then. False if it cannot: nothing has changed, and reset and the same steps lead there.
  virtual bool rewind(size_t steps) {
    static_cast<void>(steps);
    return false;
  }

  // Findings of this run so far, in order. Stable until the next step, rewind or reset.
  virtual std::span<const Finding> findings() const = 0;

  // While replaying a prefix that was checked before, data-race checks are skipped (default: checking).
  virtual void set_checking(bool on) = 0;

  // Recording for reports: off by default, costs nothing then.
  virtual void set_recording(bool on) = 0;
  virtual const std::vector<RecordedEvent>& recording() const = 0;

  virtual AgentKey key(AgentId agent) const = 0;
  virtual AgentId agent(const AgentKey& key) = 0;  // interns
  virtual std::string name(AgentId agent) const = 0;
  virtual std::string name(ObjectId object) const = 0;
  virtual std::string describe(AgentId agent, const Operation& op) const = 0;  // "try_wait empty[0] parity 1"
  virtual SiteId site_of(AgentId agent) const = 0;                             // of the pending transition

  // Digest of memory and objects, for comparing final states of equivalent executions.
  virtual uint64_t fingerprint() const = 0;

  // Sites that ran in some run of this machine so far, by SiteId.
  virtual const std::vector<bool>& reached() const = 0;

  // Optional, for programs with several parts. From the next reset on only the threads of the given parts run, and the
  // machine keeps the footprint of each; what the launch expects of final memory is then noted instead of judged.
  virtual void confine(const std::vector<bool>& parts);
  virtual const Footprints& footprints() const;
};

class Program {
 public:
  virtual ~Program() = default;
  virtual std::unique_ptr<Machine> make_machine() const = 0;
  virtual std::string name() const = 0;
  virtual Site site(SiteId id) const = 0;
  // Memory and synchronization instructions that could run, for "37 of 52"; empty if unknown (C++ kernels).
  virtual std::vector<SiteId> instructions() const { return {}; }
  // What a verdict rests on, one sentence each ("float values of ex2.approx are opaque").
  virtual std::vector<std::string> assumptions() const { return {}; }
  // Groups of threads that can meet in global memory only, and only in ways that a footprint tells: clusters.
  virtual uint32_t parts() const { return 1; }
};

// Bad input from a user: a launch file, PTX text, an option. Caught once, exit code 2. `what()` is the whole line:
// "ring.toml:7: found 'iotaa', expected one of zero, one, iota, uninitialized".
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& line) : std::runtime_error(line) {}
  InputError(const std::string& file, uint32_t line, const std::string& text)
      : std::runtime_error(line == 0 ? file + ": " + text : file + ":" + std::to_string(line) + ": " + text) {}
};

}  // namespace warpcheck
