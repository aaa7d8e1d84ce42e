#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/problem.h"
#include "import/recording.h"
#include "import/timed_calls.h"

namespace telltale {

// What a run did, as far as a recording of its calls tells. Functions are the same if their names
// are.
struct CallFacts {
  struct Use {
    uint64_t calls = 0;
    uint64_t unwound = 0;                // of them, left by an exception or longjmp
    std::optional<uint64_t> longest_ns;  // of the calls that ended; none: none did
  };
  struct Place {
    std::string file;
    uint64_t line = 0;
  };
  std::map<std::string, Use> functions;                 // those that were called, by name
  std::map<std::string, Place> places;                  // where they are defined, if known
  std::set<std::pair<std::string, std::string>> edges;  // caller, callee
  std::optional<std::set<std::string>> thrown;  // types; none: the recording has no such events
};

// Reads the recording twice. Adds damage to `problems` once. Errors: those of play_calls().
Result<CallFacts> read_call_facts(const Recording& recording, const TimedCalls& calls,
                                  ProblemLog& problems);

}  // namespace telltale
