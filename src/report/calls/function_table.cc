#include "report/calls/function_table.h"

#include <array>

#include "report/calls/call_fields.h"
#include "report/schemas/schemas.h"

namespace telltale {
namespace {

using field::count;
using field::ns;
using field::number_id;
using field::text;
using reports::kFunction;
using reports::kPid;
using reports::kTid;

constexpr std::array kColumns = {
    kPid.sometimes(),
    kTid.sometimes(),
    count("calls", "Calls that ended: returned, ended by a tail call, or unwound."),
    ns("total_ns", "Time during which the function was on the thread's stack."),
    ns("self_ns", "Time in the function and not in its callees, over all calls."),
    ns("min_ns", "Shortest of the calls that ended."),
    ns("median_ns", "Median of the calls that ended."),
    ns("p90_ns", "90 % of the calls that ended were not longer."),
    ns("p99_ns", "99 % of the calls that ended were not longer."),
    ns("max_ns", "Longest of the calls that ended."),
    ns("sum_ns", "Sum of the calls that ended; recursion counts at every level."),
    count("unwound", "Calls without an exit of their own."),
    count("unfinished", "Calls open at the end of the recording."),
    count("orphan_exits", "Exits without an entry."),
    number_id("id", "The function's id in the recording."),
    kFunction,
    text("file", "Source file of the function.").or_null(),
    number_id("line", "Line in that file.").or_null(),
};
constexpr std::array kMembers = {field::rows(
    "rows", kColumns, "A row for each function; with --by-thread for each function and thread.")};

}  // namespace

Table function_table(const std::vector<FunctionRow>& rows, const FunctionTableOptions& options,
                     const Clock& clock, const FunctionNames& names) {
  TableSchema schema(kColumns);
  if (!options.by_thread) schema.leave_out({"pid", "tid"});
  if (!options.all_columns) {
    schema.leave_out({"sum_ns", "unwound", "unfinished", "orphan_exits", "id", "file", "line"});
  }
  Table table(schema);
  for (const FunctionRow& row : rows) {
    const FunctionProfile& p = row.profile;
    const FunctionInfo& info = names.describe(p.function);
    table.add_row({row.thread.pid, row.thread.tid, p.calls, clock.to_ns(p.total),
                   clock.to_ns(p.self), clock.to_ns(p.min), clock.to_ns(p.median),
                   clock.to_ns(p.p90), clock.to_ns(p.p99), clock.to_ns(p.max), clock.to_ns(p.sum),
                   p.unwound, p.unfinished, p.orphan_exits, uint64_t{to_number(p.function)},
                   info.name, info.file.empty() ? TableCell() : TableCell(info.file),
                   info.line == 0 ? TableCell() : TableCell(uint64_t{info.line})});
  }
  return table;
}

constinit const DocumentSchema schemas::kTop{"top", 1, "The profile of functions.", true, kMembers};

}  // namespace telltale
