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

}  // namespace telltale::cli
