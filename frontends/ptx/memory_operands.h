// Modifiers that loads, stores, atomics and barriers share.
#pragma once

#include "frontends/ptx/decode.h"

namespace warpcheck::ptx {

// weak, volatile, relaxed, acquire or release (what `strongest` allows) and the scope. Returns whether it is strong.
bool take_semantics(Modifiers& modifiers, Code& code, Order strongest);
void take_scope(Modifiers& modifiers, Code& code);
MemorySpace take_space(Modifiers& modifiers);  // kGeneric if none is named
void take_cache_hints(Modifiers& modifiers);

}  // namespace warpcheck::ptx
