#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "model/event_source.h"
#include "output/table/field.h"
#include "output/table/table.h"
#include "report/process_number.h"

// Columns that several tables of timed calls have.
namespace telltale::reports {

inline constexpr Field kPid = field::signed_id("pid", "Process; 0 if the recording does not say.");
inline constexpr Field kTid = field::signed_id("tid", "Thread.");
inline constexpr Field kProcessName =
    field::text("process_name", "The process's program.").titled("PROCESS").or_null();
inline constexpr Field kThreadName =
    field::text("thread_name", "The thread's own name.").titled("THREAD").or_null();
inline constexpr Field kFunction =
    field::text("function", "Name of the function; #17 if only its id is known.");

// The cell of kProcessName or kThreadName.
inline TableCell name_cell(const std::string& name) {
  return name.empty() ? TableCell() : TableCell(name);
}

// The schema, without kProcessNumber if no item's thread needs it. `thread_of` is an item's
// ThreadKey.
template <typename Items, typename ThreadOf>
TableSchema with_process_number(TableSchema schema, const Items& items, ThreadOf thread_of) {
  const bool any = std::ranges::any_of(
      items, [&](const auto& item) { return std::invoke(thread_of, item).process != 0; });
  if (!any) schema.leave_out({kProcessNumber.key});
  return schema;
}
// For rows of a recording's threads.
inline TableSchema with_process_number(TableSchema schema, std::span<const EventStream> streams) {
  return with_process_number(std::move(schema), streams, &EventStream::thread);
}

}  // namespace telltale::reports
