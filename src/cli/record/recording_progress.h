#pragma once

#include <cstdint>
#include <string>

#include "cli/record/left_files.h"

namespace telltale::cli {

// While a recorded program runs longer than two seconds (TELLTALE_PROGRESS_MS says otherwise), a
// line on standard error says for how long, and how much is recorded, if that is a terminal. Not if
// the program's standard output is a terminal too: the program's lines would be mixed with this
// one.
class RecordingProgress {
 public:
  // `plan` must outlive it. `quiet`: never shows a line.
  RecordingProgress(const RecorderPlan& plan, bool quiet);
  RecordingProgress(const RecordingProgress&) = delete;
  RecordingProgress& operator=(const RecordingProgress&) = delete;
  ~RecordingProgress();  // removes the line

  // To be called now and then.
  void show();
  // Milliseconds from one call to the next; 0: none is needed.
  [[nodiscard]] uint64_t interval_ms() const { return interval_ms_; }

 private:
  const RecorderPlan& plan_;
  uint64_t interval_ms_ = 0;
  uint64_t patience_ms_ = 0;
  uint64_t begun_ms_ = 0;
  bool shown_ = false;
};

// "recording: 12 s, 3.45 MiB, about 452,198 events".
std::string recording_words(uint64_t milliseconds, const RecordedSoFar& recorded);

}  // namespace telltale::cli
