// Kernels for tests: from a few lines of PTX, or from tests/ptx/data.
#pragma once

#include <string>
#include <vector>

#include "explorer/explore.h"
#include "frontends/ptx/launch_spec.h"
#include "frontends/ptx/program.h"

namespace warpcheck::ptx::testing {

// An entry `k` with parameter `out` (u32[count], zero) around `body`; %r, %rd and %p registers are declared.
std::string entry(const std::string& body);

// Its launch: one block of `threads`.
LaunchSpec launch(uint32_t threads, uint64_t count);

ExploreResult check(const std::string& body, const LaunchSpec& spec);

// What `out` holds at the end of the body's one execution.
std::vector<uint32_t> result(const std::string& body, uint32_t threads, uint64_t count);

// A variant of a kernel of tests/ptx/data.
ExploreResult check_kernel(const std::string& kernel, const std::string& variant);

// Findings of a kind that are not strict-only.
std::vector<Finding> errors(const ExploreResult& result, FindingKind kind);
std::string describe(const ExploreResult& result);

}  // namespace warpcheck::ptx::testing
