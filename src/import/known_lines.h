#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
  OfRun add(const std::map<PathFacts::Deed, PathFacts::Said>& lines);

  void collect_files(std::set<std::string>& files) const;
  // To be called once, after all runs: returns the lines with these names of files, in order. Lines
  // that become equal are one.
  std::vector<PathFacts::Deed> take(const SiteFileNames& names);
  // After that: numbers become indices of what was returned, ascending.
  void sort(OfRun& run) const;

 private:
  std::mutex mutex_;
  std::map<PathFacts::Deed, uint32_t> numbers_;
  std::vector<uint32_t> index_;  // by number
};

}  // namespace telltale
