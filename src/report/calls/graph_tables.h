#pragma once

#include "analysis/calls/call_graph.h"
#include "output/table/table.h"
#include "output/tree/tree_export.h"

namespace telltale {

// The tables of the document schemas::kGraph: its functions, and who calls whom.
Table graph_function_table(const CallGraph& graph, const ExportContext& context);
Table graph_edge_table(const CallGraph& graph, const ExportContext& context);

}  // namespace telltale
