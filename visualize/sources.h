// Places in a kernel's source as people read them: "ring.cu:41", with the text of the line where its file is at hand.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"

namespace warpcheck {

// The line that says most about a site: where the kernel itself, not a header that it calls, stands.
const SourceLine& best_line(const Site& site);

// "ring.cu:41" of that line, without the path; "" when unknown.
std::string place(const Site& site);

// "ptx.cuh:57, inlined at ring.cu:30"; "" when nothing was inlined.
std::string inlining(const Site& site);

// An instruction without its many modifiers: "cp.async.bulk" of "cp.async.bulk.shared::cluster.global...".
std::string short_instruction(const std::string& instruction);

// The same for each instruction inside a text.
std::string short_instructions(const std::string& text);

// Lines of files as ranges: {"ring.cu:80", "ring.cu:81", "a.cu:3"} as "ring.cu:80-81, a.cu:3". Sorts and removes doubles.
std::string line_ranges(std::vector<SourceLine> lines);

// Finds source files by name in some folders. Reads each file once. Not thread-safe.
class Sources {
 public:
  explicit Sources(std::vector<std::string> folders = {}) : folders_(std::move(folders)) {}

  // The line's text without its indentation and trailing comment, at most `limit` bytes; "" when there is none.
  std::string text(const SourceLine& line, size_t limit = 72) const;

  // Where that file was found; `file` itself when it was not.
  std::string path(const std::string& file) const;

 private:
  struct File {
    std::string path;  // "" when it was not found
    std::vector<std::string> lines;
  };
  const File& find(const std::string& file) const;

  std::vector<std::string> folders_;
  mutable std::map<std::string, File> files_;
};

// `text` cut to `limit` bytes, with an ellipsis, never inside a UTF-8 sequence.
std::string shortened(const std::string& text, size_t limit);

}  // namespace warpcheck
