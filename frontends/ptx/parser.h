// Reads PTX text, as nvcc, LLVM, Triton, CuTe, numba and Warp print it. Accepts any instruction; says "file:line: found X,
// expected Y" (InputError) where the text is no PTX. Never recurses deeper than a fixed bound.
#pragma once

#include <string>

#include "frontends/ptx/module.h"

namespace warpcheck::ptx {

Module parse(std::string text, const std::string& file);
Module parse_file(const std::string& path);  // errors name the path as given

}  // namespace warpcheck::ptx
