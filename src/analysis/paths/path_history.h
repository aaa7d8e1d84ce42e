#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/path_numbers.h"
#include "model/prefix_numbers.h"

namespace telltale {

// The control flow graph of a function with path tracing, as its metadata describe it.
struct PathGraph {
  struct Place {
    uint32_t scope = 0;  // index of `scopes`
    uint32_t line = 0;
    bool operator==(const Place&) const = default;
  };
  struct Block {
    uint64_t id = 0;              // in the metadata
    std::vector<uint32_t> lines;  // in the order of instructions, without repetitions in sequence
    bool stores_path = false;     // the number of a completed path is stored in it
    // The same with functions and files, if the metadata contain them; otherwise empty.
    std::vector<Place> places = {};
  };
  // The function itself, or one that was inlined into it before it was instrumented.
  struct Scope {
    std::string file;
    std::string function;
    bool operator==(const Scope&) const = default;
  };
  std::vector<Block> blocks;  // by node of `numbers`: the first is the entry, the second the exit
  PathNumbers numbers;
  std::string symbol = {};
  std::vector<Scope> scopes = {};
  bool calls_setjmp = false;  // its record is unreliable after longjmp

  bool sets_late = false;  // late_variables() says where its record has values
  uint32_t ring_size = 0;  // slots; 0: without a ring, or unknown

  // If its record has numbers of ways to blocks: those of completed paths to the source of the back
  // edge that ends them. The sum of the current path is in the slot of the index, if there is a
  // ring.
  std::optional<PrefixNumbers> prefixes = {};

  // Whether its activations have a ring of path numbers.
  [[nodiscard]] bool has_ring() const;
  // Whether its activations have a record at all: not if the block where one stops says how it ran.
  [[nodiscard]] bool has_record() const;
};

// The record of path tracing in a function's frame.
struct PathRecord {
  // Numbers of completed paths; the last is -1 until the ring is full. Empty in a function that
  // stores none: it runs one path.
  std::vector<int64_t> ring;
  uint64_t next = 0;  // index in the ring of the number that is stored next
  int64_t sum = 0;    // path sum of the path that is not complete; unused if the ring has it
  // Whether it is known to have values, since the function has made a call.
  bool is_set = false;
};

// What a function executed before it was stopped, oldest first. Blocks are nodes of the graph.
struct PathHistory {
  struct Path {
    uint64_t number = 0;
    std::vector<uint32_t> blocks;        // without the exit
    std::optional<uint32_t> start;       // index of the back edge before it; empty: the entry
    std::optional<uint32_t> ended_with;  // index of the back edge after it; empty: the exit
    uint64_t times = 1;                  // how often it ran in sequence, if that was counted
  };
  // One reading: how the record is consistent with a block in which the function may have stopped.
  struct Reading {
    std::vector<uint32_t> partial;  // from the beginning of the path to the block, inclusive
    size_t completed = 0;           // how many of PathHistory::completed came before it
    bool between_updates = false;   // it was stopped while it updated the record
    [[nodiscard]] uint32_t block() const { return partial.back(); }
    bool operator==(const Reading&) const = default;
  };
  std::vector<Path> completed;
  // True if `completed` begins where the function was entered; false if older paths are lost.
  bool complete = false;
  // Empty if the record contradicts every block in which the function may have stopped.
  std::vector<Reading> readings;
  // The contradiction, one sentence without a full stop; empty if there is none.
  std::string contradiction;
};

// How many paths these are, with repetitions.
uint64_t times_of(std::span<const PathHistory::Path> paths);

// The blocks of a path, without the exit.
std::vector<uint32_t> blocks_of(const PathNumbers& numbers, const AcyclicPath& path);

// Decodes the record of a function that was stopped in one of `candidates`. Given the block, there
// is one reading; several blocks may give several. Never fails: reports and omits what contradicts
// the graph. Time is bounded for any input (docs/analysis/paths.md). REQUIRES: candidates are
// nodes.
PathHistory read_path_history(const PathGraph& graph, const PathRecord& record,
                              std::span<const uint32_t> candidates);

}  // namespace telltale
