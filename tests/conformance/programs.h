// Programs with known numbers of traces: for the exactness of the search, and for its speed.
//
// Each operation is a sequentially consistent atomic unless said; variables start at 0. The counts are exact: more is
// redundant work, fewer is unsound, and under the optimal reduction no run is blocked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontends/cpp/warpcheck.h"

namespace warpcheck::conformance {

// The names that `program` knows, with one line about each.
struct ProgramInfo {
  const char* name;
  const char* text;
};
const std::vector<ProgramInfo>& programs();

// Throws InputError for unknown names, and for sizes that make no sense.
Kernel program(const std::string& name, unsigned n);

struct RingShape {
  unsigned stages = 1, iterations = 1, consumers = 1;
};
// A producer fills the stages of a ring in turn, each consumer reads each; every wait is for a definite phase: one
// trace.
Kernel ring(const RingShape& shape);

}  // namespace warpcheck::conformance
