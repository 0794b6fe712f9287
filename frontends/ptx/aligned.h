// Instructions that all lanes of a warp run together (.sync.aligned), beyond those that only exchange values: the lanes that
// have come apart wait here for each other. That orders control, not memory.
#pragma once

#include <optional>

#include "frontends/ptx/interpreter.h"

namespace warpcheck::ptx {

// Stages of an aligned instruction's own visible operations begin here.
constexpr uint32_t kTogether = 8;

// nullopt once the fragment holds all lanes of its warp; else what the instruction returns.
std::optional<Flow> come_together(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active);

}  // namespace warpcheck::ptx
