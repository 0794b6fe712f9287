// The control flow of an entry: where branches lead, where lanes that part meet again (immediate post-dominators), and
// which registers are still read later (liveness). Computed once, when a program is made.
#pragma once

#include <cstdint>
#include <vector>

#include "frontends/ptx/module.h"

namespace warpcheck::ptx {

class ControlFlow {
 public:
  explicit ControlFlow(const Function& function);

  // Instructions that may follow instruction i; an instruction behind the last stands for the end.
  std::vector<uint32_t> next(uint32_t i) const;
  // The first instruction that every path from `i` to the end passes, i itself excluded; kNone: only the end.
  uint32_t join(uint32_t i) const;
  // For each instruction the outermost cycle that it lies in; kNone: in none.
  std::vector<uint32_t> cycles() const;
  // Behind the stretch of code around i that no branch enters or leaves.
  uint32_t block_end(uint32_t i) const { return blocks_[block_of_[i]].end; }
  // Whether `reg` may be read at or after instruction i before it is overwritten.
  bool live_before(uint32_t i, uint32_t reg) const;

  // Registers that an instruction reads (predicate included) and writes.
  const std::vector<uint32_t>& reads(uint32_t i) const { return reads_[i]; }
  const std::vector<uint32_t>& writes(uint32_t i) const { return writes_[i]; }

 private:
  struct Block {
    uint32_t first = 0, end = 0;
    std::vector<uint32_t> next, before;  // blocks; the exit is blocks_.size()
  };

  void find_blocks();
  void find_joins();
  void find_liveness();
  void classify(const Instruction& instruction, uint32_t i);
  void transfer(uint32_t i, std::vector<uint64_t>& live) const;

  const Function& function_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> block_of_;
  std::vector<uint32_t> post_dominator_;            // of each block; blocks_.size(): the exit
  std::vector<std::vector<uint64_t>> live_out_;     // of each block, a bit a register
  std::vector<std::vector<uint32_t>> reads_, writes_;
};

// Whether the instruction ends its thread: ret, exit, trap.
bool ends_thread(const Instruction& instruction);

}  // namespace warpcheck::ptx
