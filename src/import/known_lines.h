#pragma once

#include <boost/container/flat_map.hpp>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/paths/covered_lines.h"
#include "import/path_facts.h"
#include "import/site_file_names.h"

namespace telltale {

// What runs say of the lines of their programs (PathFacts::Kind::ran_in_process). Each run says
// something of tens of thousands of lines, which are the same in most runs: a line is kept once,
// and a run has its number.
class KnownLines {
 public:
  struct Line {
    uint32_t number = 0;
    PathFacts::Said said = PathFacts::Said::maybe;
  };
  using OfRun = std::vector<Line>;

  // Threads may call it at once.
  // A function may come several times.
  OfRun add(std::span<const LinesOfFunction> run_says);
  // What was stored of a run. Facts that are damaged have other places than one.
  OfRun add(const std::map<PathFacts::Deed, PathFacts::Said>& stored);

  void collect_files(std::set<std::string>& files) const;
  // To be called once, after all runs: returns the lines with these names of files, in order. Lines
  // that become equal are one.
  std::vector<PathFacts::Deed> take(const SiteFileNames& names);
  // After that: numbers become indices of what was returned, ascending.
  void sort(OfRun& run) const;

 private:
  std::mutex mutex_;
  // Calls `visit` with each line, as a deed, and its number.
  template <typename Visit>
  void for_each(const Visit& visit) const;

  std::map<PathFacts::Function, boost::container::flat_map<SourceLine, uint32_t>> numbers_;
  // Of what was stored: anyone may have sent these names of files, and interned texts stay.
  std::map<PathFacts::Deed, uint32_t> stored_numbers_;
  uint32_t count_ = 0;
  std::vector<uint32_t> index_;  // by number
};

}  // namespace telltale
