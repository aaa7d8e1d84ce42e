#include "cli/options/net_option.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "cli/options/message.h"
#include "import/net_recording.h"
#include "import/running_recording.h"
#include "output/table/screen.h"

namespace telltale::cli {
namespace {

// What CLI11 stores for a flag without a value.
constexpr std::string_view kWithoutValue = "true";

// "9.5ns" in picoseconds, at most a millisecond.
std::optional<uint64_t> parse_picoseconds(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 2> kUnits = {
      {{"us", 1e6}, {"ns", 1e3}}};
  double unit = 1e3;
  for (const auto& [suffix, picoseconds] : kUnits) {
    if (!text.ends_with(suffix)) continue;
    text.remove_suffix(suffix.size());
    unit = picoseconds;
    break;
  }
  double number = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  constexpr double kMostPicoseconds = 1e9;
  if (error != std::errc() || stop != text.data() + text.size() ||
      !(number >= 0 && number * unit <= kMostPicoseconds))
    return std::nullopt;
  return static_cast<uint64_t>(std::llround(number * unit));
}

}  // namespace

void add_net_option(Command verb, ReadingOptions& options) {
  verb.add_flag_with_value(
      "--net", options.net,
      "subtract what recording cost: estimates. A recording by telltale's recorder of functions "
      "contains the cost of a call, as it was measured at its start; --net=20ns or "
      "--net=9ns+11ns (inside and outside of a call) gives it");
  verb.add_flag("--running", options.running,
                "leave out the time in which threads waited: times are those on a processor");
}

std::optional<RecorderCost> parse_recorder_cost(std::string_view text) {
  RecorderCost cost;
  const size_t plus = text.find('+');
  const std::optional<uint64_t> first = parse_picoseconds(text.substr(0, plus));
  if (!first) return std::nullopt;
  if (plus == std::string_view::npos) {
    cost = {*first / 2, *first - *first / 2};
  } else {
    const std::optional<uint64_t> second = parse_picoseconds(text.substr(plus + 1));
    if (!second) return std::nullopt;
    cost = {*first, *second};
  }
  return cost.known() ? std::optional(cost) : std::nullopt;
}

namespace {

Result<std::unique_ptr<const Recording>> without_cost(std::unique_ptr<const Recording> recording,
                                                      const ReadingOptions& options) {
  std::optional<RecorderCost> given;
  if (options.net != kWithoutValue) {
    given = parse_recorder_cost(options.net);
    if (!given) {
      return usage_error(
          "--net needs the cost of a recorded call, such as 20ns or 9ns+11ns, but "
          "got " +
          options.net);
    }
  }
  return without_recorder_cost(std::move(recording), given, options.jobs);
}

}  // namespace

Result<std::unique_ptr<const Recording>> with_net_option(std::unique_ptr<const Recording> recording,
                                                         const ReadingOptions& options) {
  if (options.net.empty() && !options.running) return recording;
  // A thread's clock without the recorder, or without waits, does not fit those of other threads.
  if (!options.time.empty()) {
    return usage_error(
        fmt::format("--time selects by recorded times, which {} changes; use one of them",
                    options.net.empty() ? "--running" : "--net"));
  }
  if (!options.net.empty()) {
    auto net = without_cost(std::move(recording), options);
    if (!net) return net;
    recording = *std::move(net);
  }
  if (!options.running) return recording;
  const Recording* const recorded = recording.get();
  auto running = without_waiting(std::move(recording), options.jobs);
  if (running && running->get() == recorded)
    print_message("telltale: --running leaves nothing out: there are no waits\n");
  return running;
}

void remark_waiting(Ticks waited, Ticks whole) {
  if (screen().is_terminal() && waited > whole / 2)
    print_message("telltale: most of this time is waiting; --running leaves it out\n");
}

}  // namespace telltale::cli
