#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/paths/path_history.h"
#include "base/problem.h"
#include "bytes/cursor.h"
#include "formats/csi/path_records.h"

namespace telltale {

// The graphs of functions with path tracing by symbol, from metadata texts.
class PathGraphs {
 public:
  using Graph = std::shared_ptr<const PathGraph>;
  using ByKey = std::unordered_map<uint64_t, Graph>;  // keys of function records

  // Adds the functions of a text (section .debug_PT), with what the records of the same program say
  // of them (section .debug_telltale_paths). Returns the graphs that have records. A graph that has
  // no path numbers goes to `problems`. Nothing refers to the bytes afterwards.
  ByKey add(Bytes text, const std::string& file, uint64_t file_offset,
            const std::vector<csi::PathFunctionRecord>& records, ProblemLog& problems);

  // Moves the graphs of copies to the function in the source that they are copies of. `sources`:
  // its symbol by theirs.
  void join_copies(const std::unordered_map<std::string, std::string>& sources);

  // Several if objects have functions of the same name. Of texts that are equal in all that a graph
  // has, as comdat functions of several objects are, one is kept.
  [[nodiscard]] const std::vector<Graph>& find(const std::string& symbol) const;
  // Symbols by bare_name(), which debuggers show; several if functions are overloaded.
  [[nodiscard]] std::unordered_map<std::string, std::vector<std::string>> symbols_by_name() const;
  [[nodiscard]] bool empty() const { return graphs_.empty(); }

 private:
  std::unordered_map<std::string, std::vector<Graph>> graphs_;
};

}  // namespace telltale
