#include "cli/options/measure_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "cli/options/message.h"

namespace telltale::cli {

void add_measure_option(Command verb, std::string& measure, std::vector<std::string> of_calls,
                        const std::string& text) {
  measure = of_calls.front();
  for (const std::string& name : measure_names()) of_calls.push_back(name);
  verb.add_option("--measure", measure,
                  text +
                      "; if recorded: bytes or number of allocated objects, samples, exceptions, "
                      "nanoseconds of waiting for locks, bytes or number of live objects in the "
                      "last heap shot")
      .one_of(of_calls)
      .show_default();
}

Measure measure_of_option(const std::string& name) {
  return measure_of_name(name).value_or(Measure::time);
}

namespace {

bool has_measure(const std::string& name, std::span<const Measure> has) {
  return std::ranges::find(has, measure_of_option(name)) != has.end();
}

std::string no_data(const std::string& name, std::span<const Measure> has) {
  std::string others;
  for (const Measure measure : has) {
    if (measure == Measure::time)
      continue;  // the verb's names for measures of calls, which need no --measure
    others += fmt::format("{}{}", others.empty() ? "" : ", ", name_of_measure(measure));
  }
  const bool calls = std::ranges::find(has, Measure::time) != has.end();
  if (!others.empty()) others = fmt::format("use --measure {} with stacks or flame", others);
  if (calls) others = others.empty() ? "it has calls" : "it has calls, and " + others;
  const bool lacks_calls = !calls && measure_of_option(name) == Measure::time;
  return fmt::format("the recording has no {}data for the measure {}{}{}",
                     lacks_calls ? "calls, so no " : "", name, others.empty() ? "" : "; ", others);
}

}  // namespace

Result<void> check_measured(const std::string& name, std::span<const Measure> has) {
  if (has.empty() || has_measure(name, has)) return {};
  return usage_error(no_data(name, has));
}

std::string describe_nothing_measured(const std::string& name, std::span<const Measure> has) {
  return has_measure(name, has)
             ? fmt::format("nothing that the filters select has the measure {}", name)
             : no_data(name, has);
}

void remark_nothing_measured(const std::string& name, std::span<const Measure> has) {
  print_message("telltale: {}\n", describe_nothing_measured(name, has));
}

}  // namespace telltale::cli
