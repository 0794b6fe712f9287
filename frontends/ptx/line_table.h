// .loc directives: which place in the source the instructions that follow come from, with the calls it was inlined through.
#pragma once

#include <map>
#include <tuple>

#include "frontends/ptx/cursor.h"
#include "frontends/ptx/module.h"

namespace warpcheck::ptx {

class LineTable {
 public:
  explicit LineTable(Module& module) : module_(module) {}

  // The operands of a .loc, whose name has been read.
  void read(Cursor& cursor);
  void new_function();
  // Of the next instruction; kNone before the first .loc with a line.
  uint32_t current() const { return current_; }

 private:
  using Place = std::tuple<uint32_t, uint32_t, uint32_t>;  // file, line, column

  Module& module_;
  std::map<Place, uint32_t> latest_;  // where a place was last named, with the calls around it
  uint32_t current_ = kNone;
};

}  // namespace warpcheck::ptx
