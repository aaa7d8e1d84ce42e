#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "cli/options/command.h"
#include "import/recording.h"

namespace telltale::cli {

// --gate, --gate-floor and --gate-floor-ns of verbs that compare recordings.
struct DiffGateOptions {
  std::string gate;
  std::string floor;
  uint64_t floor_ns = 0;
};
void add_diff_gate_options(Command verb, DiffGateOptions& options);

// What a gate compares.
enum class GatedMeasure : uint8_t { calls, total, self };

// One condition of --gate: the maximum growth of a measure.
struct DiffGate {
  std::string_view name;
  GatedMeasure measure = GatedMeasure::calls;
  double limit = 0;  // 0.1: by 10 %
};
// "calls=0%,total=10%". Errors: usage.
Result<std::vector<DiffGate>> parse_gates(std::string_view text);
// Growth of a time up to this is ignored: --gate-floor 10us, or --gate-floor-ns. Errors: usage.
Result<uint64_t> gate_floor_ns(const DiffGateOptions& options);

// The recordings of A or B, as far as a gate depends on them.
struct GatedSide {
  struct Run {
    std::string file;
    uint64_t calls = 0;       // that the options select
    bool incomplete = false;  // events are missing ...
    bool damaged = false;     // ... and not because the recorder was asked to keep only a part
    uint64_t left_out = 0;    // events that the recorder's filters left out
    std::vector<std::string> choices;  // Recording::function_choices
  };
  std::string_view name;  // "A" or "B"
  std::vector<Run> runs;
};
GatedSide::Run gated_run(const std::string& file, uint64_t calls, const Recording& recording,
                         const ProblemLog& problems);

// Errors: usage, if there is a gate and a run has no calls: it could not exceed the gate. `all`:
// the options select all calls.
Result<void> check_gated_calls(const DiffGateOptions& options, const GatedSide& before,
                               const GatedSide& after, bool all);

// Says on standard error if the recorder chose functions of A and B by different patterns.
void remark_chosen_functions(const Recording& before, const Recording& after);

// A measure that grew by no more than its gate allows, or by more, but not by more than the floor.
enum class Growth : uint8_t { allowed, below_floor, exceeded };

// For the verdict: how many functions, paths or sums were compared, and what came of it.
class GateOutcome {
 public:
  // One of them, whose measure that grew most is given.
  void add(Growth worst);
  // The verdict on standard error, after a line for each reason why it may hide growth; without
  // --gate, only what remark_chosen_functions says.
  void print(const DiffGateOptions& options, uint64_t floor_ns, std::string_view noun,
             const GatedSide& before, const GatedSide& after) const;

 private:
  size_t compared_ = 0;
  size_t exceeded_ = 0;
  size_t below_floor_ = 0;
};

}  // namespace telltale::cli
