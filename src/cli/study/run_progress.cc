#include "cli/study/run_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/options/message.h"

namespace telltale::cli {

RunProgress::RunProgress(uint64_t times, bool quiet)
    : times_(times), shown_(!quiet && times > 1 && ::isatty(STDERR_FILENO) != 0) {}

void RunProgress::add(RunLabel label) {
  ++counts_[static_cast<size_t>(label)];
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  print_message("\r{} of {}: {}\x1b[K", done(), times_, summary());
}

void RunProgress::finish() const {
  if (shown_) print_message("\r\x1b[K");
}

std::string RunProgress::summary() const {
  const auto count = [this](RunLabel label) { return counts_[static_cast<size_t>(label)]; };
  std::string text =
      fmt::format("{} failed, {} passed", count(RunLabel::failed), count(RunLabel::passed));
  if (count(RunLabel::skipped) != 0) text += fmt::format(", {} skipped", count(RunLabel::skipped));
  return text;
}

}  // namespace telltale::cli
