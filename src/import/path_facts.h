#pragma once

#include <array>
#include <boost/container/flat_map.hpp>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/isolation/crash_cluster.h"
#include "analysis/paths/covered_lines.h"
#include "analysis/paths/path_history.h"
#include "base/error.h"
#include "base/problem.h"
#include "import/stack_paths.h"

namespace telltale {

// What the paths in a run's stack frames, and its coverage, say that the run did.
struct PathFacts {
  // In the order of the groups of sites that path_evidence() makes of them. took_path: a path that
  // was completed. followed_path: the beginning of a path, whether the call stopped there or went
  // on.
  enum class Kind : uint8_t { took_path, followed_path, ran_in_call, ran_in_process };
  static constexpr std::array kKinds = {Kind::took_path, Kind::followed_path, Kind::ran_in_call,
                                        Kind::ran_in_process};
  using Function = std::pair<std::string, std::string>;  // name and file
  using Place = std::pair<std::string, uint32_t>;        // file and line
  // Whether a run did something. A crash prevents what would have come next: a line that the
  // stopped calls could still have run, or a line of a function that had not been called, did not
  // run yet. It follows from the crash and cannot explain it.
  enum class Said : uint8_t { no, maybe, yes, not_yet };
  // A path of a function, or a line of one.
  struct Deed {
    Function function;
    std::vector<Place> places;  // of a path in the order that they ran
    auto operator<=>(const Deed&) const = default;
  };

  std::array<std::map<Deed, Said>, kKinds.size()> known;
  // Those whose paths are known. They did not take the paths that are not listed.
  std::set<Function> decoded;
  // Of those, the ones that a crash stopped: what their calls could still have run.
  std::map<Function, std::set<Place>> ahead;
  // The stack with which the program ended, the innermost frame first; core_stack().
  std::vector<isolation::StackFrame> stack;

  [[nodiscard]] std::map<Deed, Said>& of(Kind kind) { return known[static_cast<size_t>(kind)]; }
  [[nodiscard]] const std::map<Deed, Said>& of(Kind kind) const {
    return known[static_cast<size_t>(kind)];
  }
  // If a deed is added twice (a line in several blocks), the answers are joined.
  void add(Kind kind, Deed deed, Said done);
  // The first of yes, maybe, not_yet and no that one of them is.
  static Said join(Said a, Said b);
  // What the run says of a deed of any run.
  [[nodiscard]] Said find(Kind kind, const Deed& deed) const;
  bool operator==(const PathFacts&) const = default;

 private:
  [[nodiscard]] bool followed(const Deed& beginning) const;
  [[nodiscard]] bool could_still_follow(const Deed& path) const;
};

// What a run says of the lines of a function (PathFacts::Kind::ran_in_process).
struct LinesOfFunction {
  PathFacts::Function function;
  boost::container::flat_map<SourceLine, PathFacts::Said> lines;
};

// The facts of a run; what they say of lines, of which a run has tens of thousands, is separate.
struct SeparateFacts {
  PathFacts facts;
  std::vector<LinesOfFunction> lines;
};

// The facts that are certain. Errors: those of StackPaths.
Result<SeparateFacts> read_separate_facts(const StackPaths& stacks, ProblemLog& problems);
// The same together.
Result<PathFacts> read_path_facts(const StackPaths& stacks, ProblemLog& problems);

}  // namespace telltale
