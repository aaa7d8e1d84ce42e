#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/paths/path_history.h"
#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale {

// The graphs of functions with path tracing by linkage name, from metadata texts.
class PathGraphs {
 public:
  // Adds the functions of a text (section .debug_PT). A graph that has no path numbers goes to
  // `problems`. Nothing refers to the bytes afterwards.
  void add(Bytes text, const std::string& file, uint64_t file_offset, ProblemLog& problems);

  // Several if objects have functions of the same name. Of texts that are equal in all that a graph
  // has, as comdat functions of several objects are, one is kept.
  [[nodiscard]] const std::vector<std::shared_ptr<const PathGraph>>& find(
      const std::string& linkage_name) const;
  [[nodiscard]] bool empty() const { return graphs_.empty(); }

 private:
  std::unordered_map<std::string, std::vector<std::shared_ptr<const PathGraph>>> graphs_;
};

}  // namespace telltale
