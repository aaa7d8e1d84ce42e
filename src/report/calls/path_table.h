#pragma once

#include "analysis/calls/call_tree.h"
#include "output/table/table.h"
#include "output/tree/tree_export.h"

namespace telltale {

// A row for each path of the tree, as folded stacks have it: the table of the document
// schemas::kStacks. What is counted and measured depends on the context's units.
Table path_table(const CallTree& tree, const ExportContext& context, bool by_thread);

}  // namespace telltale
