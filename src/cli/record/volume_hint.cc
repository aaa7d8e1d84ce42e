#include "cli/record/volume_hint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <system_error>
#include <utility>

#include "analysis/calls/profile.h"
#include "base/sort_rows.h"
#include "import/open_recording.h"
#include "import/timed_calls.h"

namespace telltale::cli {
namespace {

constexpr uint64_t kLargeBytes = uint64_t{32} << 20;
constexpr double kCallBytes = 16;  // an entry and an exit
constexpr double kMegabyte = 1e6;
// Options are named if they would have kept out so much.
constexpr double kNotableShare = 0.2;
constexpr double kLargeShare = 0.5;
constexpr size_t kMostFunctions = 3;

double share_of(double part, double all) { return all > 0 ? part / all : 0; }

std::string saving(double calls, double all) {
  return fmt::format("{:.0f} % of the calls, {:.0f} MB", 100 * share_of(calls, all),
                     calls * kCallBytes / kMegabyte);
}

// Where a name's parameters begin: at the parenthesis that matches the last one. The recorder,
// which compares the pattern, has the same rule (runtime/xray/name_patterns.cc).
size_t parameters_begin(std::string_view name) {
  const size_t last = name.rfind(')');
  size_t open = 0;
  for (size_t i = last == std::string_view::npos ? 0 : last + 1; i-- > 0;) {
    if (name[i] == ')') ++open;
    if (name[i] == '(' && --open == 0) return i;
  }
  return name.size();
}

// A pattern for --function and --without, in quotes for a shell, that matches the function: without
// its parameters.
std::string pattern_of(const std::string& name) {
  const size_t parameters = parameters_begin(name);
  std::string pattern;
  for (const char letter : name.substr(0, parameters)) {
    if (letter == '[') {
      pattern += "[[]";
    } else {
      pattern += letter == ',' || letter == '\'' ? '?' : letter;
    }
  }
  return parameters < name.size() ? pattern + "(*" : pattern;
}

// A lower bound of the function's calls that took less than `limit`, by its percentiles.
double calls_below(const FunctionProfile& function, Ticks limit) {
  const auto calls = static_cast<double>(function.calls);
  if (function.max < limit) return calls;
  if (function.p99 < limit) return 0.99 * calls;
  if (function.p90 < limit) return 0.9 * calls;
  if (function.median < limit) return 0.5 * calls;
  return 0;
}

}  // namespace

std::vector<std::string> volume_hints(const std::vector<std::string>& recordings) {
  std::vector<std::string> hints;
  const uint64_t bytes = std::accumulate(
      recordings.begin(), recordings.end(), uint64_t{0}, [](uint64_t sum, const auto& path) {
        std::error_code failure;
        const uintmax_t size = std::filesystem::file_size(path, failure);
        return failure ? sum : sum + size;
      });
  if (bytes < kLargeBytes) return hints;
  OpenOptions open;
  open.files = recordings;
  const auto recording = open_recording(open);
  if (!recording || (*recording)->timed_calls() == nullptr) return hints;
  const TimedCalls& calls = *(*recording)->timed_calls();
  ProblemLog problems;
  std::vector<FunctionProfile> functions = calls.profile({}, problems).functions;
  const double all = std::accumulate(
      functions.begin(), functions.end(), 0.0,
      [](double sum, const auto& each) { return sum + static_cast<double>(each.calls); });

  sort_rows(functions, std::ranges::greater(), &FunctionProfile::calls);
  for (size_t i = 0; i < std::min(functions.size(), kMostFunctions); ++i) {
    const auto made = static_cast<double>(functions[i].calls);
    if (share_of(made, all) < kNotableShare) break;
    const std::string& name = calls.functions().describe(functions[i].function).name;
    hints.push_back(fmt::format("{} made {}; --without '{}' leaves it out", name, saving(made, all),
                                pattern_of(name)));
  }
  constexpr std::array<std::pair<const char*, uint64_t>, 3> kLimits = {
      {{"1us", 1'000}, {"10us", 10'000}, {"100us", 100'000}}};
  for (const auto& [text, ns] : kLimits) {
    const Ticks limit = calls.clock().from_ns(ns);
    double below = 0;
    for (const FunctionProfile& function : functions) below += calls_below(function, limit);
    if (share_of(below, all) < kLargeShare) continue;
    hints.push_back(fmt::format("--min {} leaves out at least {}", text, saving(below, all)));
    break;
  }
  return hints;
}

}  // namespace telltale::cli
