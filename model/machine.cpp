#include "model/machine.h"

#include "model/check.h"

namespace warpcheck {

void Machine::confine(const std::vector<bool>& /*parts*/) { CHECK(!"a program of one part is not confined"); }

const Footprints& Machine::footprints() const {
  static const Footprints kNone;
  return kNone;
}

}  // namespace warpcheck
