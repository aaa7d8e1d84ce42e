#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/counted_sites.h"

namespace telltale {

// Counts of lines, functions and directions of branches, from the sites of the schemes branches,
// coverage and function-entries. A sink of counted sites, unit by unit. docs/analysis/sampler.md,
// "Lines".
class LineCounts {
 public:
  struct Branch {
    uint64_t line = 0;
    uint64_t block = 0;  // number of the condition in the line, from 0
    uint64_t taken_false = 0;
    uint64_t taken_true = 0;
  };
  struct Function {
    std::string name;
    uint64_t line = 0;
    uint64_t entered = 0;
  };
  struct File {
    std::map<uint64_t, uint64_t> lines;  // line to count
    std::vector<Function> functions;     // by line and name
    std::vector<Branch> branches;        // by line and block
  };

  void on(const CountedSite& site);

  // The files by name. Counts of the same place in several units are added.
  [[nodiscard]] std::map<std::string, File> files() const;
  [[nodiscard]] uint64_t used_sites() const { return used_; }

 private:
  struct Counts {
    uint64_t taken_false = 0;
    uint64_t taken_true = 0;
  };
  struct FileCounts {
    // line; unit and function: the largest count of the function's sites in the line
    std::map<uint64_t, std::map<std::pair<std::string, std::string>, uint64_t>> lines;
    std::map<std::pair<uint64_t, std::string>, uint64_t> functions;  // line, name
    // line, predicate, ordinal of that predicate in the line in its unit
    std::map<std::tuple<uint64_t, std::string, uint64_t>, Counts> branches;
  };
  void on_branch(FileCounts& file, const CountedSite& site);
  static uint64_t line_count(
      const std::map<std::pair<std::string, std::string>, uint64_t>& functions);

  std::map<std::string, FileCounts, std::less<>> files_;
  std::map<std::tuple<std::string, std::string, uint64_t, std::string, std::string>, uint64_t> nth_;
  uint64_t used_ = 0;
};

}  // namespace telltale
