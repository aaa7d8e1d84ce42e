#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/options/command.h"
#include "output/measured_tree.h"

namespace telltale::cli {

// --measure: what paths are measured by. `of_calls` are the verb's own names for measures of calls,
// the first of which is the default; `text` says what they are.
void add_measure_option(Command verb, std::string& measure, std::vector<std::string> of_calls,
                        const std::string& text);
// Measure::time for the verb's own names.
Measure measure_of_option(const std::string& name);
// Says on standard error that a recording has nothing of what was asked for, by the name that the
// verb has for it, and names the measures that it has.
void remark_nothing_measured(const std::string& name, std::span<const Measure> has);

}  // namespace telltale::cli
