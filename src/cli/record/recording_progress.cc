#include "cli/record/recording_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "cli/options/message.h"
#include "cli/options/progress_line.h"
#include "output/table/screen.h"
#include "output/table/show_units.h"

namespace telltale::cli {
namespace {

constexpr uint64_t kFirstLineMs = 2000;
constexpr uint64_t kLineIntervalMs = 500;

uint64_t now_ms() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

}  // namespace

RecordingProgress::RecordingProgress(const RecorderPlan& plan, bool quiet) : plan_(plan) {
  if (quiet || ::isatty(STDERR_FILENO) == 0 || ::isatty(STDOUT_FILENO) != 0) return;
  patience_ms_ = progress_patience_ms(kFirstLineMs);
  interval_ms_ = std::clamp<uint64_t>(patience_ms_, 20, kLineIntervalMs);
  begun_ms_ = now_ms();
}

RecordingProgress::~RecordingProgress() {
  // From the cursor on: what the program has written before it stays.
  if (shown_) print_message("\x1b[K");
}

void RecordingProgress::show() {
  const uint64_t elapsed = now_ms() - begun_ms_;
  if (elapsed < patience_ms_) return;
  // The cursor stays in the first column: what the program writes there does not follow the line.
  print_message("{}\x1b[K\r", recording_words(elapsed, recorded_so_far(plan_)));
  shown_ = true;
}

std::string recording_words(uint64_t milliseconds, const RecordedSoFar& recorded) {
  std::string words = fmt::format("recording: {} s, {}", milliseconds / 1000,
                                  show_bytes(static_cast<double>(recorded.bytes)));
  if (recorded.events != 0)
    words += fmt::format(", about {} events", with_thousands(std::to_string(recorded.events)));
  return words;
}

}  // namespace telltale::cli
