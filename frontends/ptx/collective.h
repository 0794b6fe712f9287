// Instructions that all lanes of a warp run together (.sync.aligned).
#pragma once

#include "frontends/ptx/decode.h"
#include "frontends/ptx/interpreter.h"

namespace warpcheck::ptx {

// The instruction runs `together` once every lane of the warp has come to it. It orders control, not memory.
void set_aligned(Code& code, ControlFunction together);

// The slots of a vector operand, or of a single register.
std::vector<uint32_t> destinations_of(Decoder& decoder, const Operand& operand);
std::vector<Source> sources_of(Decoder& decoder, const Operand& operand);

}  // namespace warpcheck::ptx
