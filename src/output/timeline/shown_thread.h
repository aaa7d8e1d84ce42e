#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "model/event_source.h"

namespace telltale {

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
