#include "cli/measure_option.h"

#include <fmt/format.h>

#include <cstdio>

namespace telltale::cli {

void add_measure_option(CLI::App& verb, std::string& measure, std::vector<std::string> of_calls,
                        const std::string& text) {
  measure = of_calls.front();
  for (const std::string& name : measure_names()) of_calls.push_back(name);
  verb.add_option("--measure", measure,
                  text +
                      "; where the recording tells of them: bytes or number of allocated objects, "
                      "samples, exceptions, nanoseconds of waiting for "
                      "locks, bytes or number of objects alive in the last heap shot")
      ->check(CLI::IsMember(of_calls))
      ->capture_default_str();
}

Measure measure_of_option(const std::string& name) {
  return measure_of_name(name).value_or(Measure::time);
}

void remark_nothing_measured(const std::string& name) {
  if (measure_of_option(name) != Measure::time)
    fmt::print(stderr, "telltale: the recording tells of nothing to measure by {}\n", name);
}

}  // namespace telltale::cli
