#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/options/command.h"

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

// Errors: usage, if there is a gate and a side has no calls: it would always pass. `all`: the
// options select all calls.
Result<void> check_gated_calls(const DiffGateOptions& options, uint64_t calls_before,
                               uint64_t calls_after, bool all);

// A measure that grew by no more than its gate allows, or by more, but not by more than the floor.
enum class Growth : uint8_t { allowed, below_floor, exceeded };

// For the verdict: how many functions, paths or sums were compared, and what came of it.
class GateOutcome {
 public:
  // One of them, whose measure that grew most is given.
  void add(Growth worst);
  // One line on standard error; nothing without --gate.
  void print(const DiffGateOptions& options, uint64_t floor_ns, std::string_view noun) const;

 private:
  size_t compared_ = 0;
  size_t exceeded_ = 0;
  size_t below_floor_ = 0;
};

}  // namespace telltale::cli
