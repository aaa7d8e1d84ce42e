#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "model/event_source.h"
#include "model/thread_text.h"

namespace telltale {

// The pid in exports, where a pid has to be that of one process: the second process with a pid gets
// 10,000,000 more, the third 20,000,000. Linux has no pid above 4,194,304.
inline int64_t distinct_pid(const ThreadKey& thread) {
  constexpr int64_t kStep = 10'000'000;
  constexpr int64_t kMost = 200;  // Perfetto's pids have 31 bits
  const int64_t more = thread.process > 1 ? int64_t{thread.process} - 1 : 0;
  if (more == 0) return thread.pid;
  // Damaged files have larger pids.
  return more <= kMost && thread.pid < kStep ? thread.pid + more * kStep : kMost * kStep + more;
}

// The program's name; of several processes with one pid, also which: "shop (42.2)".
inline std::string shown_process_name(const EventStream& stream) {
  if (stream.thread.process == 0) return stream.process_name;
  const std::string which = process_text(stream.thread);
  return stream.process_name.empty() ? which : stream.process_name + " (" + which + ")";
}

// Perfetto's thread ids are positive 31-bit numbers; 0 is the kernel's idle task. Its reader of
// Chrome's JSON takes events with ids that do not fit as those of the process' main thread. Mono's
// ids on Linux are pthread_t, which never fit. Such an id is replaced by the stream's number.
inline int64_t shown_tid(const EventStream& stream, size_t index) {
  const int64_t tid = stream.thread.tid;
  return tid > 0 && tid <= std::numeric_limits<int32_t>::max() ? tid
                                                               : static_cast<int64_t>(index) + 1;
}

// The thread's name; of a nameless thread whose id is replaced, the real id. Empty: none.
inline std::string shown_thread_name(const EventStream& stream, size_t index) {
  if (stream.thread_name.empty() && shown_tid(stream, index) != stream.thread.tid)
    return "thread " + std::to_string(stream.thread.tid);
  return stream.thread_name;
}

}  // namespace telltale
