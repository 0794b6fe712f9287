// Final contents that a launch expects of its buffers.
#pragma once

#include <vector>

#include "frontends/ptx/interpreter.h"
#include "frontends/ptx/launch_spec.h"

namespace warpcheck::ptx {

class ExpectedBuffers final : public Interpreter::Expectation {
 public:
  // Buffer i is region i. `buffers` must outlive it.
  explicit ExpectedBuffers(const std::vector<BufferSpec>& buffers) : buffers_(buffers) {}

  // Reports the first element of each buffer that differs.
  void check(GpuMachine& machine) const override;

 private:
  const std::vector<BufferSpec>& buffers_;
};

}  // namespace warpcheck::ptx
