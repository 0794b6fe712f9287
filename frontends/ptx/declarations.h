// Declarations that stand both at module scope and in bodies: variables with initializers, parameters, .file, .section.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontends/ptx/cursor.h"
#include "frontends/ptx/module.h"

namespace warpcheck::ptx {

// From the state space (or linkage) on to the semicolon: `.shared .align 4 .b8 a[256], b[4];`.
void parse_variables(Cursor& cursor, std::vector<PtxVariable>& into);
// `(.param .u64 a, ...)`: the opening parenthesis has been read.
void parse_parameters(Cursor& cursor, std::vector<PtxVariable>& into);
// The name of the directive has been read.
void parse_file_directive(Cursor& cursor, Module& module);
void parse_section(Cursor& cursor, Module& module);

[[noreturn]] void throw_unknown_label(const std::string& file, uint32_t line, std::string_view label);

}  // namespace warpcheck::ptx
