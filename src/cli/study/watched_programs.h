#pragma once

#include <string>
#include <vector>

namespace telltale::cli {

// Notices that programs are built again while a study runs them.
class WatchedPrograms {
 public:
  explicit WatchedPrograms(std::vector<std::string> programs);
  // Whether one of the files was replaced or written since the last call. A file that is not there
  // counts as unchanged: the linker may be about to write it.
  bool changed();
  [[nodiscard]] const std::vector<std::string>& files() const { return programs_; }

 private:
  std::vector<std::string> programs_;
  std::vector<std::string> states_;  // of each file; empty: it is not there
};

}  // namespace telltale::cli
