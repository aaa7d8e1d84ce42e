#include "cli/options/diff_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "base/counted.h"
#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "output/table/show_units.h"

namespace telltale::cli {
namespace {

constexpr std::pair<std::string_view, GatedMeasure> kMeasures[] = {
    {"calls", GatedMeasure::calls}, {"total", GatedMeasure::total}, {"self", GatedMeasure::self}};

}  // namespace

void add_diff_gate_options(Command verb, DiffGateOptions& options) {
  verb.add_option(
          "--gate", options.gate,
          "exit status 1 if calls, total or self time grow by more than this: calls=0%,total=10%")
      .not_empty()
      .type_name("MEASURE=N%,...");
  verb.add_option("--gate-floor", options.floor,
                  "the gate ignores growth of a time up to this: 10us; without a unit in seconds")
      .type_name("DURATION")
      .not_empty()
      .needs("--gate");
  verb.add_option("--gate-floor-ns", options.floor_ns, "the same, in nanoseconds")
      .type_name("NS")
      .needs("--gate")
      .excludes("--gate-floor");
}

Result<std::vector<DiffGate>> parse_gates(std::string_view text) {
  std::vector<DiffGate> gates;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const size_t equals = one.find('=');
    const auto* const known = std::ranges::find(kMeasures, one.substr(0, equals),
                                                &std::pair<std::string_view, GatedMeasure>::first);
    double percent = 0;
    const std::string_view number =
        equals == std::string_view::npos ? std::string_view() : one.substr(equals + 1);
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), percent);
    if (known == std::end(kMeasures) || error != std::errc() || !(percent >= 0) ||
        std::string_view(end, number.data() + number.size()) != "%") {
      return usage_error("--gate needs MEASURE=N%,... with calls, total or self, but got " +
                         std::string(one));
    }
    gates.push_back({known->first, known->second, percent / 100});
  }
  return gates;
}

Result<uint64_t> gate_floor_ns(const DiffGateOptions& options) {
  if (options.floor.empty()) return options.floor_ns;
  const std::optional<uint64_t> floor = parse_duration_option(options.floor);
  // Without a unit, seconds are never meant.
  if (!floor || (options.floor.back() >= '0' && options.floor.back() <= '9' && *floor != 0))
    return usage_error("--gate-floor needs a duration such as 10us, but got " + options.floor);
  return *floor;
}

Result<void> check_gated_calls(const DiffGateOptions& options, uint64_t calls_before,
                               uint64_t calls_after, bool all) {
  if (options.gate.empty() || (calls_before != 0 && calls_after != 0)) return {};
  const std::string_view sides = calls_before != 0  ? "B has"
                                 : calls_after != 0 ? "A has"
                                                    : "A and B have";
  return usage_error(fmt::format("--gate has nothing to compare: {} no calls{}", sides,
                                 all ? "" : " that the options select"));
}

void GateOutcome::add(Growth worst) {
  ++compared_;
  if (worst == Growth::exceeded) ++exceeded_;
  if (worst == Growth::below_floor) ++below_floor_;
}

void GateOutcome::print(const DiffGateOptions& options, uint64_t floor_ns,
                        std::string_view noun) const {
  if (options.gate.empty()) return;
  std::string line = fmt::format("gate {}: {} of {} grew by more than {} allows",
                                 exceeded_ == 0 ? "passed" : "failed",
                                 exceeded_ == 0 ? "none" : fmt::format("{}", exceeded_),
                                 counted(compared_, noun), options.gate);
  if (below_floor_ != 0) {
    line += fmt::format("; {} grew by more than that, but by no more than the floor of {}",
                        below_floor_, show_duration(static_cast<double>(floor_ns)));
  }
  print_message("telltale: {}\n", line);
}

}  // namespace telltale::cli
