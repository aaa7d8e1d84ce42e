#pragma once

#include <vector>

#include "analysis/calls/profile.h"
#include "model/clock.h"
#include "model/events.h"
#include "model/function_names.h"
#include "output/table/table.h"

namespace telltale {

struct FunctionRow {
  ThreadKey thread;  // with FunctionTableOptions::by_thread
  FunctionProfile profile;
};
struct FunctionTableOptions {
  bool by_thread = false;
  bool all_columns = false;  // those, too, that are mainly for programs
};

// The rows of `top`, in their order: the table of the document schemas::kTop.
Table function_table(const std::vector<FunctionRow>& rows, const FunctionTableOptions& options,
                     const Clock& clock, const FunctionNames& names);

}  // namespace telltale
