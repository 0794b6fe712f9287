// What copies of bulk kind share: places of their operands, destinations of a multicast, operators of a reduction.
#pragma once

#include <optional>

#include "frontends/ptx/decode.h"
#include "frontends/ptx/visible.h"

namespace warpcheck::ptx {

// Addresses and the sources from[0] and from[1] take effect; false: the fragment has given up.
bool operands_take_effect(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active);

// The mbarrier at code.at[2]; nullopt, and a report, where there can be none.
std::optional<Range> barrier_place(Interpreter& interpreter, Fragment& fragment, const Code& code, uint32_t lane);

// Issues the copy, which completes on `barrier` or in a group. With code.count_given it is a multicast to the blocks of
// from[1]: destination and barrier lie at the same offsets in each.
void issue_bulk(Interpreter& interpreter, Fragment& fragment, const Code& code, uint32_t lane, AsyncCopy copy, const std::optional<Range>& barrier);

// add, min, max, inc, dec, and, or, xor of elements of a type; NotSupported for others.
Rmw reduction_of(std::string_view name, std::string_view type);
std::string_view take_reduction(Modifiers& modifiers);

}  // namespace warpcheck::ptx
