#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "model/call_filter.h"
#include "model/clock.h"
#include "model/events.h"
#include "model/function_names.h"
#include "model/open_calls.h"

namespace telltale {

// Applies a CallFilter to records, for answers that are about records and not about calls (`info`,
// `dump`, `check`): docs/analysis/filters.md, "Records". It has to see all of a thread's records,
// in order, because a call's depth depends on those before it. Not thread-safe; one per worker.
class RecordFilter {
 public:
  // `names` must outlive it. `first_time` is the zero of the time window.
  RecordFilter(const CallFilter& filter, const Clock& clock, Ticks first_time,
               const FunctionNames& names);
  RecordFilter(const RecordFilter&) = delete;
  RecordFilter& operator=(const RecordFilter&) = delete;

  // One thread's records. The reference that thread() gives stays valid as long as the filter.
  class Thread {
   public:
    Thread(RecordFilter& filter, bool kept) : filter_(filter), kept_(kept) {}
    // Whether the record is selected. Each record of the thread has to be passed to one of these.
    bool enter(Ticks time, FunctionId function);
    bool leave(Ticks time, FunctionId function, LeaveKind how);
    [[nodiscard]] bool other(Ticks time) const;        // any record that is not about a call
    [[nodiscard]] bool kept() const { return kept_; }  // by --thread

   private:
    RecordFilter& filter_;
    bool kept_;
    OpenCalls<> calls_;  // only maintained if the filter has a depth
  };
  Thread& thread(ThreadKey key);

  [[nodiscard]] const Clock& clock() const { return clock_; }  // of all times passed to the filter
  [[nodiscard]] const CallFilter& call_filter() const { return filter_; }
  [[nodiscard]] Ticks first_time() const { return first_time_; }
  // Whether calls are selected by their depth: then the order of records matters.
  [[nodiscard]] bool by_depth() const { return by_depth_; }

  // For files that name functions by address, or whose ids are not the recording's: maps what is in
  // the file being read to the recording's function id. Set by the owner of the recording; empty:
  // the ids are the recording's.
  std::function<FunctionId(uint64_t address_or_id)> function_at;

  // ThreadKey::process of a process of the file being read, by its pid. Empty: 0.
  std::function<uint32_t(int64_t pid)> process_of;

 private:
  CallFilter filter_;
  Clock clock_;
  Ticks first_time_;
  FunctionFilter functions_;
  Ticks from_;
  Ticks to_;
  bool by_depth_;
  std::map<ThreadKey, Thread> threads_;
};

}  // namespace telltale
