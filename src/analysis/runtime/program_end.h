#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "model/event_source.h"
#include "model/runtime_events.h"

namespace telltale {

// When a program began to end: its profiler ends its own threads ("Profiler ...") first. The events
// of a truncated recording are all from the running program. docs/analysis/runtime-timeline.md. A
// part: handles the events of a piece, and is merged by append() in the order of each thread's
// pieces; threads in any order.
class ProgramEnd {
 public:
  void on(const PieceEvent& event) { stream_ = event.stream; }
  void on(const LoadEvent& event);
  void append(const ProgramEnd& next) {
    marks_.insert(marks_.end(), next.marks_.begin(), next.marks_.end());
  }

  // Per process that ended in the recording, by EventStream::process. `streams`: the recording's.
  [[nodiscard]] std::map<size_t, Ticks> by_process(std::span<const EventStream> streams) const;

 private:
  enum class What : uint8_t { named_profiler, named_otherwise, started, ended };
  struct Mark {
    size_t stream = 0;
    What what{};
    Ticks time = 0;
  };
  size_t stream_ = 0;
  std::vector<Mark> marks_;  // about four for each thread
};

// True for events that begin after their process has begun to end. `ends`: ProgramEnd::by_process.
inline bool is_at_exit(Ticks begin, size_t stream, const std::map<size_t, Ticks>& ends,
                       std::span<const EventStream> streams) {
  const auto end = ends.find(streams[stream].process);
  return end != ends.end() && begin >= end->second;
}

}  // namespace telltale
