// Special registers by name: %tid.x, %laneid, %clock64, ...
#pragma once

#include <optional>
#include <string_view>

#include "frontends/ptx/code.h"

namespace warpcheck::ptx {

std::optional<Special> special_register(std::string_view name);

}  // namespace warpcheck::ptx
