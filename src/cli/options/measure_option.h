#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/options/command.h"
#include "output/tree/measured_tree.h"

namespace telltale::cli {

// --measure: the metric of paths. `of_calls` are the verb's names for measures of calls, the
// default first; `text` describes them.
void add_measure_option(Command verb, std::string& measure, std::vector<std::string> of_calls,
                        const std::string& text);
// Measure::time for the verb's names of measures of calls.
Measure measure_of_option(const std::string& name);
// Prints on standard error that the recording has no data for the requested measure, and names the
// measures that it has.
void remark_nothing_measured(const std::string& name, std::span<const Measure> has);

}  // namespace telltale::cli
