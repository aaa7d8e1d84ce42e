#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "cli/options/command.h"
#include "cli/options/follow.h"
#include "cli/options/terminal.h"
#include "import/open_options.h"
#include "import/recording.h"
#include "model/call_filter.h"
#include "model/name_style.h"

namespace telltale::cli {

// The options of every verb that reads recordings.
struct ReadingOptions {
  std::string verb;  // the verb; set by add_reading_options
  std::vector<std::string> files;
  std::vector<std::string> programs;
  std::vector<std::string> threads;
  std::string time;
  std::vector<std::string> functions;
  std::string names;                    // --names; empty: name_style() decides
  std::string net;                      // --net: "true", or the value; empty: without it
  bool running = false;                 // --running
  size_t depth = 0;                     // 0: no limit
  size_t jobs = 0;                      // 0: all cores
  std::string format_description;       // of a StackTrack platform
  uint64_t max_decompressed_bytes = 0;  // 0: the default limits
  bool strict = false;
  bool json = false;
  bool csv = false;
  bool follow = false;
  TerminalOptions terminal;
  bool thread_names = true;     // OpenOptions::thread_names
  bool text_has_places = true;  // OpenOptions::source_places, without --json and --csv
  std::shared_ptr<Follower> follower = std::make_shared<Follower>();  // at work if `follow`
  // Keeps the input for --strict: standard input cannot be read again.
  std::shared_ptr<std::vector<InputFile>> read = std::make_shared<std::vector<InputFile>>();

  [[nodiscard]] OpenOptions open_options() const;
  // Errors: usage, for a malformed filter.
  [[nodiscard]] Result<CallFilter> filter() const;
  // --names; without it short names for people, and full ones for programs (--json, --csv).
  [[nodiscard]] NameStyle name_style() const;
};

// FILE..., --program, --strict, --json, --jobs, --max-decompressed-bytes, --thread, --time,
// --function, --depth.
void add_reading_options(Command verb, ReadingOptions& options);
// --format-description; part of the above.
void add_format_description_option(Command verb, ReadingOptions& options);
// --follow, for verbs that answer through answer_recording or answer_and_follow.
void add_follow_option(Command verb, ReadingOptions& options);
// --names, for verbs that show names of functions.
void add_names_option(Command verb, ReadingOptions& options);
// -n, --limit and --rows: one option, how many rows of a table are shown.
Option add_limit_option(Command verb, size_t& rows, const std::string& description);
// --csv.
void add_csv_option(Command verb, ReadingOptions& options);

// "1.5ms" in nanoseconds; a number without a unit is in seconds. Nothing if it is no duration.
std::optional<uint64_t> parse_duration_option(std::string_view text);
// Prints "telltale: ..." to standard error and returns the exit status for the error.
int report_error(const Error& error);
// Opens the options' files. Errors: as the function of that name of import/open_recording.h.
Result<std::vector<InputFile>> open_inputs(const ReadingOptions& options);
// Calls answer(writers), which returns an exit status, once; with --follow, again whenever the
// files grow, and finally prints what report_problems held back. The answer sets `writers`.
int answer_and_follow(const ReadingOptions& options,
                      const std::function<int(std::vector<int64_t>& writers)>& answer);
// Opens the recording and returns the exit status of answer(recording, filter). Usage, if the
// recording has nothing that the verb uses (verb_uses.h). Repeats with --follow.
int answer_recording(const ReadingOptions& options,
                     const std::function<int(const Recording&, const CallFilter&)>& answer);
// Makes a window of time that counts from the recording's end one that counts from its beginning.
void settle_window(const Recording& recording, const ReadingOptions& options, CallFilter& filter);
// Rejects filters and --follow that do not apply to a recording. Errors: usage.
Result<void> check_options(const ReadingOptions& options, const CallFilter& filter,
                           const Recording& recording);
// Prints the first damage on standard error. `lister`: the command that prints all of it; empty:
// none does. Returns kDone or, with --strict, strict_status.
int report_problems(const ReadingOptions& options, const ProblemLog& problems,
                    std::string_view lister = "telltale info");
// With --strict: kDamaged if `problems` of an answer are damage, or if an input is not sound
// (soundness.h; printed on standard error). Else kDone.
int strict_status(const ReadingOptions& options, const ProblemLog& problems);
// Writes all of `text` to standard output; false on failure, such as a full disk, which it reports
// on standard error once. run_command_line then makes the exit status kUnreadable.
bool print(std::string_view text);
// Whether print has failed.
bool print_failed();
// Writes `block` to standard output; a ByteSink. Errors: io.
Result<void> print_block(std::string_view block);

}  // namespace telltale::cli
