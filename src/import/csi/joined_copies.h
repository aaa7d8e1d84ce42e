#pragma once

#include <vector>

#include "analysis/paths/function_coverage.h"
#include "import/csi/flow_functions.h"

namespace telltale {

// Joins the copies that a compiler made of a function of the source, under symbols of their own,
// into one function with its name: what a copy ran, the function ran. Calls have the names of the
// source, too. Leaves out functions that are not in the source, and calls of them.
void join_copies(const FlowFunctions& flow, std::vector<FunctionCoverage>& functions);

}  // namespace telltale
