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

// Which records of a recording a CallFilter chooses, for answers that are about records and not
// about calls (`info`, `dump`, `check`): docs/analysis/filters.md, "Records". Each thread's records
// have to be told in order, all of them, since a call's depth follows from those before it. Not
// thread-safe; one per worker.
class RecordFilter {
 public:
  // `names` must outlive it. `first_time` is where the time window counts from.
  RecordFilter(const CallFilter& filter, const Clock& clock, Ticks first_time,
               const FunctionNames& names);
  RecordFilter(const RecordFilter&) = delete;
  RecordFilter& operator=(const RecordFilter&) = delete;

  // One thread's records. The reference that thread() gives stays valid as long as the filter.
  class Thread {
   public:
    Thread(RecordFilter& filter, bool kept) : filter_(filter), kept_(kept) {}
    // Is the record chosen? Each record of the thread has to be told by one of these.
    bool enter(Ticks time, FunctionId function);
    bool leave(Ticks time, FunctionId function, LeaveKind how);
    [[nodiscard]] bool other(Ticks time) const;        // any record that is not about a call
    [[nodiscard]] bool kept() const { return kept_; }  // by --thread

   private:
    RecordFilter& filter_;
    bool kept_;
    OpenCalls<> calls_;  // followed only if the filter asks for a depth
  };
  Thread& thread(const ThreadKey& key);

  [[nodiscard]] const Clock& clock() const { return clock_; }  // that times are told on
  [[nodiscard]] const CallFilter& call_filter() const { return filter_; }
  [[nodiscard]] Ticks first_time() const { return first_time_; }

  // For files that name functions by their addresses: the recording's id of the function at an
  // address of the file that is being read. Set by who has the recording.
  std::function<FunctionId(uint64_t address)> function_at;

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
