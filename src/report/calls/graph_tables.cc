#include "report/calls/graph_tables.h"

#include <array>

#include "report/calls/call_fields.h"
#include "report/schemas/schemas.h"

namespace telltale {
namespace {

using field::count;
using field::ns;
using field::number_id;
using field::rows;
using field::text;
using reports::kFunction;

constexpr std::array kGraphFunctions = {
    number_id("id", "The function's id in the recording."),
    kFunction,
    count("calls", "Calls of the function."),
    ns("total_ns", "Time during which the function was on the stack."),
    ns("self_ns", "Time in the function and not in its callees."),
};
constexpr std::array kEdges = {
    number_id("caller_id", "Id of the function that calls."),
    number_id("callee_id", "Id of the function that is called."),
    text("caller", "Name of the function that calls."),
    text("callee", "Name of the function that is called."),
    count("calls", "Calls along this edge."),
    ns("total_ns", "Time of the calls along this edge that are not inside another one."),
};
constexpr std::array kGraphMembers = {
    rows("functions", kGraphFunctions, "The nodes."),
    rows("edges", kEdges, "Who calls whom."),
    ns("total_ns", "Time in outermost calls."),
    count("pruned_functions", "Functions that --min-percent left out."),
    count("pruned_edges", "Edges that --min-percent left out."),
};

}  // namespace

Table graph_function_table(const CallGraph& graph, const ExportContext& context) {
  Table table(kGraphFunctions);
  for (const CallGraph::Function& row : graph.functions) {
    table.add_row({uint64_t{to_number(row.function)}, context.functions.describe(row.function).name,
                   row.calls, context.clock.to_ns(row.total), context.clock.to_ns(row.self)});
  }
  return table;
}

Table graph_edge_table(const CallGraph& graph, const ExportContext& context) {
  Table table(kEdges);
  for (const CallGraph::Edge& edge : graph.edges) {
    const FunctionId caller = graph.functions[edge.caller].function;
    const FunctionId callee = graph.functions[edge.callee].function;
    table.add_row({uint64_t{to_number(caller)}, uint64_t{to_number(callee)},
                   context.functions.describe(caller).name, context.functions.describe(callee).name,
                   edge.calls, context.clock.to_ns(edge.total)});
  }
  return table;
}

constinit const DocumentSchema schemas::kGraph{"graph", 1, "Who calls whom.", true, kGraphMembers};

}  // namespace telltale
