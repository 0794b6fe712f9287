// One line on a terminal's standard error that says how far a search is. Silent when that is no terminal.
#pragma once

#include <functional>
#include <string>

#include "explorer/explore.h"

namespace warpcheck::cli {

class ProgressLine {
 public:
  explicit ProgressLine(std::string kernel);
  ~ProgressLine();  // wipes the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // For ExploreOptions::on_progress; empty when nobody looks.
  std::function<void(const Progress&)> callback();

 private:
  void show(const Progress& progress);

  std::string kernel_;
  bool terminal_;
  bool shown_ = false;
};

}  // namespace warpcheck::cli
