#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/paths/coverage.h"

namespace telltale {

// What of a function ran, in all activations of a process together. Text is as in the program,
// never trusted; empty and 0 mean unknown.
struct FunctionCoverage {
  struct Call {
    uint32_t line = 0;
    std::string callee;  // the linker's name; "?": called through a pointer
    Ran returned = Ran::maybe;
  };
  // What of a basic block is known, in any activation.
  struct Block {
    std::optional<uint64_t> id;                           // in .debug_PT
    std::vector<std::pair<std::string, uint32_t>> lines;  // file and line
    Ran ran = Ran::maybe;
  };
  std::string function;  // demangled
  std::string linkage_name;
  std::string file;
  uint32_t line = 0;       // of the declaration
  std::string module;      // path of the program or shared object
  std::string mechanisms;  // "BBC", "CC,FC"
  Ran ran = Ran::maybe;
  std::map<std::pair<std::string, uint32_t>, Ran> lines;  // by file and line
  std::vector<Call> calls;
  std::vector<Block> blocks;  // the entry is the first; empty: the program does not describe them
};

// Of the same thing, by sources that are all right.
constexpr Ran agree(Ran a, Ran b) {
  if (a == Ran::yes || b == Ran::yes) return Ran::yes;
  return a == Ran::no || b == Ran::no ? Ran::no : Ran::maybe;
}

}  // namespace telltale
