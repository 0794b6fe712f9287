// Reads NumPy's .npy files (versions 1 to 3, little-endian numbers, C order) as buffer contents.
#pragma once

#include <string>

#include "frontends/ptx/launch_spec.h"

namespace warpcheck::ptx {

// The elements of the file, which must be of `type` (bf16 also as '<u2' or '|V2') and at most `count`. Throws InputError
// at `origin`, naming the file.
Contents read_npy(const std::string& path, const ElementType& type, uint64_t count, const Origin& origin);

}  // namespace warpcheck::ptx
