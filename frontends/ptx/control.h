// Instructions that the decoder itself places.
#pragma once

#include "frontends/ptx/code.h"

namespace warpcheck::ptx {

Flow run_exit(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active);
Flow run_unsupported(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active);

}  // namespace warpcheck::ptx
