#pragma once

#include <array>
#include <boost/container/flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/paths/coverage.h"
#include "analysis/paths/covered_lines.h"

namespace telltale {

// Which parts of a function ran, in all activations of a process together. Text is as in the
// program, never trusted; empty and 0 mean unknown.
struct FunctionCoverage {
  // The value of `mechanisms` if only inlined copies of the function are left.
  static constexpr const char* kOnlyInlined = "inlined";
  struct Call {
    uint32_t line = 0;
    std::string callee;  // the linker's name; "?": called through a pointer
    Ran returned = Ran::maybe;
  };
  // Whether a basic block ran in any activation.
  struct Block {
    std::optional<uint64_t> id;  // in .debug_PT
    std::vector<SourceLine> lines;
    Ran ran = Ran::maybe;
  };
  std::string function;  // demangled
  std::string linkage_name;
  std::string file;
  uint32_t line = 0;       // of the declaration
  std::string module;      // path of the program or shared object
  std::string mechanisms;  // "BBC", "CC,FC"; kOnlyInlined
  Ran ran = Ran::maybe;
  CoveredLines lines;  // of its code, with that of functions that were inlined into it
  // Its own lines in its file, in all copies together: its own code, and wherever it was inlined.
  // Empty: not known.
  boost::container::flat_map<uint32_t, Ran> source_lines;
  std::vector<Call> calls;
  std::vector<Block> blocks;  // the entry is the first; empty: the program does not describe them
};

// How many of its lines ran, did not run and may have, by Ran: its own in all copies or, if they
// are not known, those of its code.
inline std::array<uint64_t, 3> count_lines(const FunctionCoverage& function) {
  std::array<uint64_t, 3> counts{};
  for (const auto& [line, ran] : function.source_lines) ++counts[static_cast<size_t>(ran)];
  if (!function.source_lines.empty()) return counts;
  for (const auto& [place, ran] : function.lines) ++counts[static_cast<size_t>(ran)];
  return counts;
}

// Whether something ran, from two statements about it that are both true.
constexpr Ran agree(Ran a, Ran b) {
  if (a == Ran::yes || b == Ran::yes) return Ran::yes;
  return a == Ran::no || b == Ran::no ? Ran::no : Ran::maybe;
}

}  // namespace telltale
