// What is left of a search, as plain data: for checkpoints, and for parts that are explored elsewhere.
#pragma once

#include <cstdint>
#include <vector>

#include "explorer/task.h"

namespace warpcheck {

struct Remaining {
  static constexpr int64_t kNone = -1;

  struct State {
    uint64_t id = 0;        // in the search that it belongs to
    int64_t above = kNone;  // index in `states`, less than its own
    Choice step;            // from there
    std::vector<FrozenState::Taken> taken;
  };
  struct Part {
    int64_t state = kNone;
    Task task;  // without its state
  };
  // A reversal of a part that lies in a state of the whole: the sequence wanted from there.
  struct Report {
    uint64_t state = 0;  // id
    Schedule sequence;
  };

  std::vector<State> states;
  std::vector<Part> parts;
  std::vector<Report> reports;

  bool empty() const { return parts.empty() && reports.empty(); }
};

}  // namespace warpcheck
