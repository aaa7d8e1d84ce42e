// Where probes of coverage are needed: a probe is a flag that is set when its block runs. Where the
// program stopped is known, too, so that fewer probes than blocks tell which blocks ran
// (docs/design/path-tracing.md, "Fewer probes").
//
// This header depends on the standard library alone: the compiler plugin includes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace telltale {

// The blocks of a function. All vectors have one element for each block; block 0 is the entry.
// Every block can be reached from it.
struct ProbeProblem {
  std::vector<std::vector<std::uint32_t>> successors;
  std::vector<bool> may_stop;   // an activation can end in it: by a return, or by a crash
  std::vector<bool> wanted;     // must be known whether it ran
  std::vector<bool> can_probe;  // REQUIRES: every wanted block can have a probe
  std::vector<double> cost;     // of a probe; positive
};

enum class ProbeStyle : std::uint8_t {
  kEvery,         // one in each wanted block
  kSimple,        // a heuristic on the dominator tree
  kLocal,         // leaves out probes of kEvery, the most expensive first, as long as it can
  kLocalPrepass,  // the same, beginning with kSimple
  kExact,         // the least total cost
};

// The probes; they always determine the wanted blocks. Work beyond `most_steps` (some nanoseconds
// each) is not done: then, and for more than 64 blocks, kLocal and kLocalPrepass yield what they
// have, kExact the best that it knows.
std::vector<bool> place_probes(const ProbeProblem& problem, ProbeStyle style,
                               std::uint64_t most_steps = 20'000'000);

// Whether the block where an activation stopped, and the probes that it passed, always tell which
// of the wanted blocks it passed. REQUIRES: at most 64 blocks.
bool determines_wanted(const ProbeProblem& problem, const std::vector<bool>& probes);

}  // namespace telltale
