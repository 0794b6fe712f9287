// An execution in progress: its events in order, and their happens-before relation.
//
// Happens-before is the dependence order of the trace (model/dependence.h), not the synchronization order that decides
// data races. Invariants:
// (1) clock(i)[a] is the number of agent a's events that event i is ordered after, itself included; so event j happens
//     before event i, or is i, exactly when clock(i)[agent of j] > ordinal of j.
// (2) An agent's first event is ordered after the event that bore the agent, if any.
// (3) on(object) lists the events on the object in ascending order.
//
// A stack: push and pop at the end only. No allocation once warm. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/operation.h"

namespace warpcheck {

// The index of an event in its execution.
using EventIndex = uint32_t;
constexpr EventIndex kNoEvent = 0xffffffffU;

class Execution {
 public:
  void clear();

  EventIndex size() const { return static_cast<EventIndex>(events_.size()); }
  const Event& operator[](EventIndex i) const { return events_[i]; }
  std::span<const Event> events() const { return events_; }

  // The agent was born in the last event; before the first event: it exists from the start. One that ended (a fragment of
  // a warp that was merged) may be born again: its events go on counting.
  void bear(AgentId agent);

  // Appends the agent's next event and computes its clock.
  void push(const Event& event);
  void pop();

  // i happens before j, or i is j.
  bool happens_before(EventIndex i, EventIndex j) const {
    return past(j, events_[i].agent) > events_[i].ordinal;
  }

  // clock(i)[agent].
  uint32_t past(EventIndex i, AgentId agent) const {
    return index(agent) < stride_ ? clocks_[size_t{i} * stride_ + index(agent)] : 0;
  }

  // The event just before the agent's next one in program order: its last event, or the one that bore it, or kNoEvent.
  EventIndex last_of(AgentId agent) const;

  // The same for the agent of event i, as it was before event i.
  EventIndex before_in_program(EventIndex i) const { return links_[i]; }

  // Events on an object, ascending.
  std::span<const EventIndex> on(ObjectId object) const;

  // The events that the last one pushed is directly ordered after, with no event between: its races, newest first.
  std::span<const EventIndex> races_of_last() const { return races_; }

 private:
  struct AgentEntry {
    EventIndex previous = kNoEvent;  // the event just before its next one in program order
    uint32_t events = 0;
  };

  struct Rebirth {
    EventIndex by;
    AgentId agent;
    EventIndex previous;  // of its former life
  };

  void widen(size_t agents);
  void join(EventIndex into, EventIndex from);
  void order_after_object(EventIndex i);

  std::vector<Event> events_;
  std::vector<EventIndex> links_;  // previous event of the agent, or the bearer
  std::vector<uint32_t> clocks_;   // rows of stride_ numbers, one an event
  size_t stride_ = 0;
  std::vector<AgentEntry> agents_;
  std::vector<Rebirth> rebirths_;
  std::vector<std::vector<EventIndex>> objects_;
  std::vector<EventIndex> races_;
};

}  // namespace warpcheck
