#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "import/runtime_events.h"
#include "output/table/table.h"

namespace telltale {

// The processes of a recording, as the columns kPid and kProcessNumber name them.
class ProcessColumns {
 public:
  explicit ProcessColumns(const RuntimeEvents& source);  // which must outlive it

  [[nodiscard]] size_t size() const { return processes_.size(); }
  // The cells of an EventStream::process.
  [[nodiscard]] int64_t pid(size_t process) const { return processes_.at(process).pid; }
  [[nodiscard]] TableCell number(size_t process) const;
  // Both, of the process whose type or object an id is; empty: it is of none.
  [[nodiscard]] std::array<TableCell, 2> cells_of(uint64_t id) const;
  // `columns`, without the one of kPid unless the recording has several processes, and without that
  // of kProcessNumber unless several have one id.
  [[nodiscard]] TableSchema in(TableSchema columns) const;

 private:
  const RuntimeEvents& source_;
  std::map<size_t, ThreadKey> processes_;  // by EventStream::process: one of its threads
};

}  // namespace telltale
