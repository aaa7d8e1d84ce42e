#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/events.h"
#include "model/function_map.h"
#include "model/function_names.h"

namespace telltale {

// Selects the calls of an answer. Calls that do not match are removed before the analysis: their
// children stay, and their time counts as the own time of the nearest remaining caller.
// docs/analysis/filters.md.
struct CallFilter {
  // Threads by tid, or by pid and tid; empty: all.
  struct Thread {
    std::optional<int64_t> pid;
    int64_t tid = 0;
    uint32_t process = 0;  // as ThreadKey::process; 0: any
  };
  std::vector<Thread> threads;
  // Calls that begin within [from_ns, to_ns), nanoseconds since the recording's first event.
  uint64_t from_ns = 0;
  uint64_t to_ns = std::numeric_limits<uint64_t>::max();
  // Until settle() these count backwards from the recording's last event.
  bool from_is_before_end = false;
  bool to_is_before_end = false;
  // Shell patterns (* ? [...]) on the full, the short or the linkage name; empty: all functions.
  std::vector<std::string> functions;
  // Maximum depth: 1 is a thread's outermost calls. Depth is counted before other filters.
  size_t max_depth = std::numeric_limits<size_t>::max();
  // If set, matches() notes here which of `functions` matched, so that those of typing errors are
  // known without reading the recording again. Copies of the filter share it.
  std::shared_ptr<std::vector<std::atomic<bool>>> matched = {};

  [[nodiscard]] bool keeps_thread(const ThreadKey& thread) const;
  [[nodiscard]] bool matches(const FunctionInfo& function) const;
  [[nodiscard]] bool keeps_every_time() const {
    return from_ns == 0 && to_ns == std::numeric_limits<uint64_t>::max() && !counts_from_end();
  }
  // Some functions, or those of some depth, whatever the thread and the time.
  [[nodiscard]] bool selects_functions() const {
    return !functions.empty() || max_depth != std::numeric_limits<size_t>::max();
  }
  [[nodiscard]] bool counts_from_end() const { return from_is_before_end || to_is_before_end; }
  // `span_ns`: from the recording's first event to its last. The last event is in a window that
  // begins before the end.
  void settle(uint64_t span_ns);
  [[nodiscard]] bool keeps_every_call() const;  // at most whole threads are removed
  [[nodiscard]] bool keeps_everything() const { return threads.empty() && keeps_every_call(); }
};

// Caches for each function whether its name matches; not thread-safe, one per worker.
class FunctionFilter {
 public:
  FunctionFilter(const CallFilter& filter, const FunctionNames& names)
      : filter_(filter), names_(names) {}
  bool keeps(FunctionId function);

 private:
  const CallFilter& filter_;
  const FunctionNames& names_;
  FunctionMap<int8_t> known_;  // 0 not checked yet, 1 keep, -1 drop
};

}  // namespace telltale
