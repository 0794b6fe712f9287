#include "frontends/ptx/line_table.h"

namespace warpcheck::ptx {

void LineTable::read(Cursor& cursor) {
  const auto place = [&] {
    Location at;
    at.file = static_cast<uint32_t>(cursor.integer("a file number", 0xffffffffU));
    at.line = static_cast<uint32_t>(cursor.integer("a line number", 0xffffffffU));
    at.column = static_cast<uint32_t>(cursor.integer("a column number", 0xffffffffU));
    return at;
  };
  Location at = place();
  while (cursor.take(",")) {
    const Token& attribute = cursor.word("function_name or inlined_at");
    if (attribute.text == "function_name") {
      cursor.word("a label of .debug_str");
      if (cursor.take("+")) cursor.integer("an offset");
    } else if (attribute.text == "inlined_at") {
      const Location call = place();
      const auto known = latest_.find({call.file, call.line, call.column});
      if (known != latest_.end()) {
        at.inlined_at = known->second;
      } else {
        at.inlined_at = static_cast<uint32_t>(module_.locations.size());
        module_.locations.push_back(call);
      }
    } else {
      cursor.fail(attribute, "function_name or inlined_at");
    }
  }
  if (at.line == 0) return;  // "no line": the one before still says best where we are
  const auto made = static_cast<uint32_t>(module_.locations.size());
  module_.locations.push_back(at);  // inlined_at names an older entry: chains end
  latest_[{at.file, at.line, at.column}] = made;
  current_ = made;
}

void LineTable::new_function() {
  latest_.clear();
  current_ = kNone;
}

}  // namespace warpcheck::ptx
