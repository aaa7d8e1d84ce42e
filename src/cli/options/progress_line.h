#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "import/recording.h"

namespace telltale::cli {

// While this lives, and the work takes longer than half a second (TELLTALE_PROGRESS_MS says
// otherwise), a line on standard error says how far it is, if that is a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(const Recording& recording);
  // For so many items of parallel_for().
  explicit ProgressLine(uint64_t items);
  // For work of unknown length: the line says what is done.
  explicit ProgressLine(std::string_view work);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  // Removes the line for good: an answer is about to be printed. Nothing happens if there is none.
  static void end();
};

// After how many milliseconds a line about progress appears: TELLTALE_PROGRESS_MS, or `usual_ms`.
uint64_t progress_patience_ms(uint64_t usual_ms);

// "reading: 45 %", "reading again: 3 %" when all parts were read once, for `done` of `parts` parts.
std::string progress_words(uint64_t done, uint64_t parts);

}  // namespace telltale::cli
