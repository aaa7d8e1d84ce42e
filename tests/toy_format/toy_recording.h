#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/input_file.h"
#include "model/call_filter.h"
#include "model/clock.h"
#include "model/event_source.h"
#include "model/function_names.h"
#include "model/recording_info.h"

namespace telltale::toy {

// A line of a toy log: "+ 100 main", an entry at 100 ns, or "- 250 main", an exit.
struct Record {
  uint64_t offset = 0;  // of the line
  bool enters = false;
  Ticks time = 0;
  std::string_view function;  // of the file
  std::string_view bad;       // the whole line, if it is neither
};

constexpr std::string_view kMagic = "toy log\n";
// The lines after the magic; a malformed line has only `bad`.
std::vector<Record> read_records(Bytes file);

// One toy log, of one thread: an EventSource.
class ToyRecording {
 public:
  static Result<ToyRecording> open(std::vector<InputFile> files);

  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] Ticks first_time() const { return info_.first_time; }
  [[nodiscard]] std::span<const EventStream> streams() const { return streams_; }
  [[nodiscard]] const FunctionNames& functions() const { return *names_; }
  [[nodiscard]] uint64_t shard_bytes(size_t, size_t) const { return info_.bytes; }
  [[nodiscard]] const ProblemLog& problems() const { return info_.problems; }
  [[nodiscard]] RecordingInfo info(size_t, const CallFilter&) const { return info_; }
  [[nodiscard]] size_t file_count() const { return 1; }
  [[nodiscard]] const InputFile& input(size_t) const { return file_; }

  template <typename Sink>
  void play(size_t, size_t, Sink& sink, ProblemLog&) const {
    for (const Event& event : events_) {
      if (event.enters) {
        sink.enter(event.time, event.function);
      } else {
        sink.leave(event.time, event.function, LeaveKind::normal);
      }
    }
  }

 private:
  struct Event {
    bool enters = false;
    Ticks time = 0;
    FunctionId function{};
  };
  class Names;
  explicit ToyRecording(InputFile file);

  InputFile file_;
  std::shared_ptr<const FunctionNames> names_;
  std::vector<Event> events_;
  std::vector<EventStream> streams_;
  RecordingInfo info_;
  Clock clock_{.name = "ns", .ticks_per_second = 1'000'000'000};
};

}  // namespace telltale::toy
