#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "formats/xray/basic_runs.h"
#include "formats/xray/conversion_loss.h"
#include "formats/xray/timed_events.h"

namespace telltale::xray {

// An event and its arguments, for targets that list records by time.
struct EventGroup {
  TimedEvent event;
  std::vector<uint64_t> arguments;  // of an entry
  int32_t tid = 0;
  int32_t pid = 0;
};

// Pulls one thread's events in order of time.
class ThreadEvents {
 public:
  virtual ~ThreadEvents() = default;
  ThreadEvents() = default;
  ThreadEvents(const ThreadEvents&) = delete;
  ThreadEvents& operator=(const ThreadEvents&) = delete;
  virtual bool next(EventGroup& group) = 0;
};

// The threads of a trace, each in order of time: FDR buffers by their first time, basic records in
// file order. Dropped and damaged records are counted. All arguments must outlive the result.
std::vector<std::unique_ptr<ThreadEvents>> fdr_threads(Bytes file, const FileHeader& header,
                                                       const FdrFrames& frames,
                                                       const std::string& file_name,
                                                       ConversionLoss& loss, ProblemLog& problems);
std::vector<std::unique_ptr<ThreadEvents>> basic_threads(Bytes file, const FileHeader& header,
                                                         const std::string& file_name,
                                                         ConversionLoss& loss,
                                                         ProblemLog& problems);

// Passes all threads' events in order of time to visit(const EventGroup&); of equal times, the
// first thread's comes first.
void merge_by_time(std::vector<std::unique_ptr<ThreadEvents>>& threads,
                   const std::function<void(const EventGroup&)>& visit);

}  // namespace telltale::xray
