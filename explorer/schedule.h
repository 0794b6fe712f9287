// The choices that reproduce a run.
#pragma once

#include <cstdint>
#include <vector>

#include "model/ids.h"

namespace warpcheck {

struct Choice {
  AgentKey agent;
  uint16_t choice = 0;
  friend bool operator==(const Choice&, const Choice&) = default;
};
using Schedule = std::vector<Choice>;

}  // namespace warpcheck
