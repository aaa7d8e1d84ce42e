#include "report/calls/function_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/closest_word.h"
#include "base/joined.h"
#include "report/calls/call_fields.h"
#include "report/schemas/schemas.h"

namespace telltale {
namespace {

using field::count;
using field::fraction;
using field::ns;
using field::number_id;
using field::text;
using reports::kFunction;
using reports::kPid;
using reports::kTid;

constexpr std::array kColumns = {
    kPid.sometimes(),
    reports::kProcessNumber,
    reports::kProcessName.sometimes(),
    kTid.sometimes(),
    reports::kThreadName.sometimes(),
    fraction("self_share", "Self time as a share of the time in all calls.").titled("SELF %"),
    fraction("total_share", "Total time as a share of the time in all calls.").titled("TOTAL %"),
    count("calls", "Calls that ended: returned, ended by a tail call, or unwound."),
    count("unfinished", "Calls open at the end of the recording.").titled("OPEN"),
    ns("total_ns", "Time during which the function was on the thread's stack."),
    ns("self_ns", "Time in the function and not in its callees, over all calls."),
    ns("min_ns", "Shortest of the calls that ended; 0 if there is none, as in the next four."),
    ns("median_ns", "Median of the calls that ended."),
    ns("p90_ns", "90 % of the calls that ended were not longer."),
    ns("p99_ns", "99 % of the calls that ended were not longer."),
    ns("max_ns", "Longest of the calls that ended."),
    ns("sum_ns", "Sum of the calls that ended; recursion counts at every level."),
    count("unwound", "Calls without an exit of their own."),
    count("orphan_exits", "Exits without an entry."),
    number_id("id", "The function's id in the recording."),
    kFunction,
    text("file", "Source file of the function.").or_null(),
    number_id("line", "Line in that file.").or_null(),
};
constexpr std::array kFunctionTableMembers = {field::rows(
    "rows", kColumns,
    "A row for each function; with --by-thread for each function and thread, with --by-process for "
    "each function and process.")};

// A column by its key, or by the key without its unit: "self" is self_ns.
const Field* find_column(std::string_view name) {
  const auto found = std::ranges::find_if(kColumns, [&](const Field& column) {
    return column.key == name ||
           (column.key.ends_with("_ns") && column.key.substr(0, column.key.size() - 3) == name);
  });
  return found == kColumns.end() ? nullptr : &*found;
}

// Columns of names that no row has.
void leave_out_unnamed(const std::vector<FunctionRow>& rows, TableSchema& schema) {
  const auto named = [&](const std::string EventStream::* name) {
    return std::ranges::any_of(rows, [&](const FunctionRow& row) {
      return row.of != nullptr && !(row.of->*name).empty();
    });
  };
  if (!named(&EventStream::process_name)) schema.leave_out({"process_name"});
  if (!named(&EventStream::thread_name)) schema.leave_out({"thread_name"});
}

}  // namespace

std::vector<std::string_view> function_columns() {
  std::vector<std::string_view> keys;
  for (const Field& column : kColumns) keys.push_back(column.key);
  return keys;
}

Result<std::vector<std::string_view>> parse_function_columns(std::string_view text) {
  std::vector<std::string_view> keys;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    const Field* const column = find_column(name);
    if (column == nullptr) {
      std::vector<std::string> known;
      for (const std::string_view key : function_columns()) known.emplace_back(key);
      return usage_error(fmt::format("--fields has no column {}{}; the columns are {}", name,
                                     did_you_mean(name, known), joined(known, ", ")));
    }
    if (std::ranges::find(keys, column->key) == keys.end()) keys.push_back(column->key);
  }
  return keys;
}

Table function_table(const std::vector<FunctionRow>& rows, const FunctionTableOptions& options,
                     const Clock& clock, const FunctionNames& names) {
  TableSchema schema(kColumns);
  if (!options.columns.empty()) {
    schema.show(options.columns);
  } else {
    if (options.group == ProfileGroup::none) schema.leave_out({"pid", "process_name"});
    if (options.group != ProfileGroup::thread) schema.leave_out({"tid", "thread_name"});
    schema = reports::with_process_number(std::move(schema), rows, [](const FunctionRow& row) {
      return row.of == nullptr ? ThreadKey() : row.of->thread;
    });
    if (options.for_people) leave_out_unnamed(rows, schema);
    if (!options.all_columns) {
      schema.leave_out({"total_share", "sum_ns", "unwound", "orphan_exits", "id", "file", "line"});
      const bool any_open = std::ranges::any_of(
          rows, [](const FunctionRow& row) { return row.profile.unfinished != 0; });
      if (!any_open) schema.leave_out({"unfinished"});
    }
  }
  const auto share = [&](Ticks part) {
    return options.whole == 0 ? 0.0
                              : static_cast<double>(part) / static_cast<double>(options.whole);
  };
  Table table(schema);
  for (const FunctionRow& row : rows) {
    const FunctionProfile& p = row.profile;
    const FunctionInfo& info = names.describe(p.function);
    // People see no "0 ns" for what there is none of.
    const auto of_calls = [&](Ticks time) {
      return p.calls == 0 && options.for_people ? TableCell() : TableCell(clock.to_ns(time));
    };
    const EventStream of = row.of == nullptr ? EventStream() : *row.of;
    table.add_row({of.thread.pid,
                   reports::process_number_cell(of.thread),
                   reports::name_cell(of.process_name),
                   of.thread.tid,
                   reports::name_cell(of.thread_name),
                   share(p.self),
                   share(p.total),
                   p.calls,
                   p.unfinished,
                   clock.to_ns(p.total),
                   clock.to_ns(p.self),
                   of_calls(p.min),
                   of_calls(p.median),
                   of_calls(p.p90),
                   of_calls(p.p99),
                   of_calls(p.max),
                   clock.to_ns(p.sum),
                   p.unwound,
                   p.orphan_exits,
                   uint64_t{to_number(p.function)},
                   info.name,
                   info.file.empty() ? TableCell() : TableCell(info.file),
                   info.line == 0 ? TableCell() : TableCell(uint64_t{info.line})});
  }
  return table;
}

constinit const DocumentSchema schemas::kTop{"top", 1, "The profile of functions.", true,
                                             kFunctionTableMembers};

}  // namespace telltale
