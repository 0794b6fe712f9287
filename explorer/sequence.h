// A sequence of steps that could follow a prefix of the execution: what a reversal wants explored.
//
// For a reversal with first root e, prefix E' (all before e) and reversed event e', it is v = u.e'.a: u are the events
// between e and e' that are kept, a those behind e' ("Source sets", algorithm 2, line 5: v = notdep(e, E).e'). All kept
// events happen as they did, except that objects may be in other states, where commuting events were left out: `before`,
// `completes` and the like are computed anew. Where e' in its new state is ordered with an event of a (a failing
// compare-and-swap that now succeeds), it goes last, and if it is disabled there, a is left out.
//
// Not thread-safe; no allocation once warm.
#pragma once

#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "explorer/execution.h"

namespace warpcheck {

// Does a sequence begin with an agent's step, up to equivalence? ("Source sets", definition 4.1, weak initials.)
enum class Initial : uint8_t {
  kNo,
  kIndependent,    // the agent does not occur, and its step is independent of all
  kInKept,         // its first event is initial, and is so in each sequence for this reversal: one of u, or an e' that
                   // does the same as in the execution
  kInSuffix,       // its first event is initial, but perhaps not with another a
};

class Sequence {
 public:
  // For event e' at `later`.
  void build(const Execution& execution, std::span<const EventIndex> roots, EventIndex later);
  // For an agent blocked at the end: all kept events, then `op` with a choice.
  void build_blocked(const Execution& execution, std::span<const EventIndex> roots, AgentId agent, const Operation& op,
                     uint16_t choice);

  // All events from `from` on.
  void build_tail(const Execution& execution, EventIndex from);

  bool empty() const { return steps_.empty(); }
  size_t size() const { return steps_.size(); }
  const Event& operator[](size_t i) const { return *steps_[i].event; }
  AgentId reversed_agent() const { return reversed_agent_; }
  // Once inserted, does the sequence stand for all those with other a? Not if e' does something else than it did in the
  // execution, for then it may be ordered with events of another a; nor if agents chose in a: nothing else will ask for
  // their other choices.
  bool stands_for_all() const { return !reversed_last_ && !reversed_changed_ && !chooses_; }

  // Is the agent's step `op`, pending before the sequence, a weak initial of it?
  Initial weak_initial(AgentId agent, const Operation& op) const;

  // Whether the agent's first event, which must occur, was made with this choice.
  bool first_choice_is(AgentId agent, uint16_t choice) const;

  // The agent's step, a weak initial, happens before the sequence: it is removed if it occurs, and the states that the
  // others meet are updated.
  void put_first(AgentId agent, const Operation& op);

 private:
  struct Step {
    const Event* event;
    EventIndex at;  // in the execution, or kNoEvent for e'
    bool in_suffix;
  };
  struct Fold {
    ObjectId object;
    ObjectState state;
  };

  void begin(const Execution& execution, std::span<const EventIndex> roots, AgentId agent, const Operation& op);
  bool left_out(EventIndex i) const;
  void add_kept(EventIndex from, EventIndex to, bool in_suffix);
  bool add_reversed(const Event& like);
  bool suffix_conflicts(size_t suffix) const;
  ObjectState* fold_of(ObjectId object);
  const Event* remake(const Event& event, ObjectState& state);
  bool happens_before(const Step& first, const Step& second) const;
  size_t find(AgentId agent) const;

  const Execution* execution_ = nullptr;
  std::span<const EventIndex> roots_;
  AgentId reversed_agent_ = kNoAgent;
  Event reversed_;             // a model for e': agent, operation, ordinal, choice
  bool reversed_last_ = false;  // e' follows a
  bool reversed_changed_ = false;  // e' has another effect, or belongs to another phase
  bool chooses_ = false;        // a has events with choices
  std::vector<Step> steps_;
  std::vector<Fold> folds_;    // objects whose state differs from the execution's
  std::deque<Event> made_;     // events computed anew; addresses stay valid
  size_t made_count_ = 0;
};

}  // namespace warpcheck
