#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/options/command.h"
#include "output/tree/measured_tree.h"

namespace telltale::cli {

// --measure: the metric of paths. `of_calls` are the verb's names for measures of calls, the
// default first; `text` describes them.
void add_measure_option(Command verb, std::string& measure, std::vector<std::string> of_calls,
                        const std::string& text);
// Measure::time for the verb's names of measures of calls.
Measure measure_of_option(const std::string& name);
// Errors: usage, if the recording has data, but none for the requested measure: what is made from
// it would be empty. The message names the measures that it has.
Result<void> check_measured(const std::string& name, std::span<const Measure> has);
// The same, or that the filters selected nothing.
std::string describe_nothing_measured(const std::string& name, std::span<const Measure> has);
// Prints it on standard error.
void remark_nothing_measured(const std::string& name, std::span<const Measure> has);

}  // namespace telltale::cli
