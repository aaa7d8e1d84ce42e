#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/calls/call_tree.h"
#include "cli/options/reading_options.h"
#include "import/timed_calls.h"
#include "model/call_filter.h"
#include "model/function_names.h"
#include "output/tree/measured_tree.h"

namespace telltale::cli {

// "0 of 310 functions match `validate`; try `'validate*'`": if FUNCTION, the argument of a verb,
// means no function of the recording, which this reads once. Empty if it means one.
std::string describe_no_function(const TimedCalls& calls, const std::string& argument, size_t jobs);

// Why an answer is empty: no thread of the recording, or no function, is what the filter names, and
// what would be one; its window begins too late. Empty: none of these.
std::string describe_no_match(const TimedCalls& calls, const CallFilter& filter, size_t jobs);
// Prints that on standard error. False: nothing to say.
bool remark_no_match(const TimedCalls& calls, const CallFilter& filter, size_t jobs);
// The same of threads and functions alone, for answers about more than the calls of a window.
bool remark_no_match_at_any_time(const TimedCalls& calls, CallFilter filter, size_t jobs);
// Prints the filter's patterns and threads that select nothing, beside others that do: an answer
// does not show that they are missing.
void remark_unmatched(const TimedCalls& calls, const CallFilter& filter, size_t jobs);

// The same for what a measure counts, by its stacks. Their events stay if no frame is selected, so
// that such an answer is not empty.
void remark_unmatched_frames(const TimedCalls& calls, Measure measure, const CallFilter& filter,
                             size_t jobs);

// Whether FUNCTION, the argument of a verb, means this function: it is its name without parameters,
// or a pattern as --function takes it.
bool means_function(const std::string& argument, const FunctionInfo& function);

// Prints on standard error how "#17" gets a name, if that is the name of a function in the
// recordings that `reading` names. False: it is a name.
bool remark_if_number(const std::string& name, const ReadingOptions& reading);
// The same for the first of these functions that has no other name.
void remark_unnamed(const FunctionNames& names, std::span<const FunctionId> shown,
                    const ReadingOptions& reading);
// The functions of a tree's paths.
std::vector<FunctionId> functions_of(const CallTree& tree);

}  // namespace telltale::cli
