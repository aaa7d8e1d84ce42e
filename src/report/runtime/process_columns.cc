#include "report/runtime/process_columns.h"

#include <algorithm>

#include "import/timed_calls.h"
#include "report/process_number.h"
#include "report/runtime/runtime_fields.h"

namespace telltale {

ProcessColumns::ProcessColumns(const RuntimeEvents& source) : source_(source) {
  for (const EventStream& told : source.calls().streams())
    processes_.try_emplace(told.process, told.thread);
}

TableCell ProcessColumns::number(size_t process) const {
  return reports::process_number_cell(processes_.at(process));
}

std::array<TableCell, 2> ProcessColumns::cells_of(uint64_t id) const {
  if (size() < 2) return {};  // in() leaves both columns out
  const auto process = processes_.find(source_.process_of(id));
  if (id == 0 || process == processes_.end()) return {};  // an unresolved class is of any
  return {process->second.pid, number(process->first)};
}

TableSchema ProcessColumns::in(TableSchema columns) const {
  const bool share_ids = std::ranges::any_of(
      processes_, [](const auto& process) { return process.second.process != 0; });
  if (size() < 2) columns.leave_out({reports::kPid.key});
  if (!share_ids) columns.leave_out({reports::kProcessNumber.key});
  return columns;
}

}  // namespace telltale
