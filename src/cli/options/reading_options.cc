#include "cli/options/reading_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "cli/command_line.h"
#include "cli/options/function_match.h"
#include "cli/options/message.h"
#include "cli/options/net_option.h"
#include "cli/options/progress_line.h"
#include "cli/options/recording_writer.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/open_recording.h"
#include "output/escape.h"
#include "report/soundness.h"

namespace telltale::cli {
namespace {

bool print_has_failed = false;

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Nanoseconds of a unit of time; null for an unknown unit.
std::optional<uint64_t> unit_of(std::string_view time) {
  static constexpr std::pair<std::string_view, uint64_t> kUnits[] = {
      {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
  for (const auto& [suffix, ns] : kUnits)
    if (time.ends_with(suffix)) return ns;
  return std::nullopt;
}

// "1.5ms" as nanoseconds; a number without a unit has `default_unit`.
std::optional<uint64_t> parse_duration(std::string_view text, uint64_t default_unit) {
  const uint64_t unit = unit_of(text).value_or(default_unit);
  const size_t digits = text.find_first_not_of("0123456789.");
  if (digits != std::string_view::npos && (!unit_of(text) || text.size() - digits > 2))
    return std::nullopt;
  text = text.substr(0, digits);
  if (const auto whole = parse_number<uint64_t>(text)) {  // to the nanosecond, however large
    if (*whole > std::numeric_limits<uint64_t>::max() / unit) return std::nullopt;
    return *whole * unit;
  }
  const auto number = parse_number<double>(text);
  if (!number || *number * static_cast<double>(unit) > 1.8e19) return std::nullopt;
  return static_cast<uint64_t>(std::llround(*number * static_cast<double>(unit)));
}

// A window of time: FROM..TO or, equivalently, FROM-TO; either end may be omitted. An end without a
// unit has the other's; without any unit both are seconds, as in mprof-report. In the form with
// dots, an end with a minus counts from the end of the recording.
struct Window {
  uint64_t from_ns = 0;
  uint64_t to_ns = CallFilter().to_ns;
  bool from_is_before_end = false;
  bool to_is_before_end = false;

  // That is known if both ends count from the same end.
  [[nodiscard]] bool ends_before_it_begins() const {
    if (from_is_before_end != to_is_before_end) return false;
    return from_is_before_end ? from_ns < to_ns : from_ns > to_ns;
  }
};
bool take_minus(std::string_view& text) {
  if (text.size() < 2 || !text.starts_with('-')) return false;
  text.remove_prefix(1);
  return true;
}
std::optional<Window> parse_window(std::string_view text) {
  const size_t dots = text.find("..");
  const size_t between = dots == std::string_view::npos ? text.find('-') : dots;
  if (between == std::string_view::npos) return std::nullopt;
  std::string_view from = text.substr(0, between);
  std::string_view to = text.substr(between + (between == dots ? 2 : 1));
  constexpr uint64_t kSecond = 1'000'000'000;
  Window window;
  if (between == dots) {
    window.from_is_before_end = take_minus(from);
    window.to_is_before_end = take_minus(to);
  }
  if (!from.empty()) {
    const auto parsed = parse_duration(from, unit_of(to).value_or(kSecond));
    if (!parsed) return std::nullopt;
    window.from_ns = *parsed;
  }
  if (!to.empty()) {
    const auto parsed = parse_duration(to, unit_of(from).value_or(kSecond));
    if (!parsed) return std::nullopt;
    window.to_ns = *parsed;
  }
  return window;
}

std::optional<CallFilter::Thread> parse_thread(std::string_view text) {
  CallFilter::Thread thread;
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    std::string_view pid = text.substr(0, colon);
    if (const size_t point = pid.find('.'); point != std::string_view::npos) {
      const auto process = parse_number<uint32_t>(pid.substr(point + 1));
      if (process.value_or(0) == 0) return std::nullopt;
      thread.process = *process;
      pid = pid.substr(0, point);
    }
    thread.pid = parse_number<int64_t>(pid);
    if (!thread.pid) return std::nullopt;
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("0x")) {  // as in recordings that identify threads by address
    text.remove_prefix(2);
    uint64_t tid = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tid, 16);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    thread.tid = static_cast<int64_t>(tid);
    return thread;
  }
  const auto tid = parse_number<int64_t>(text);
  if (!tid) return std::nullopt;
  thread.tid = *tid;
  return thread;
}

// The first few, one per line.
std::string describe_problems(const ProblemLog& problems, std::string_view lister) {
  constexpr size_t kShown = 5;
  std::string text;
  size_t shown = 0;
  size_t shown_damage = 0;
  for (const Problem& problem : problems.kept()) {
    if (problem.kind == Problem::Kind::oddity || shown == kShown) continue;
    text += fmt::format("telltale: {}\n", visible(to_string(problem)));
    ++shown;
    if (is_damage(problem.kind)) ++shown_damage;
  }
  if (problems.damage_count() > shown_damage) {
    text += fmt::format("telltale: {} more", problems.damage_count() - shown_damage);
    text += lister.empty() ? "\n" : fmt::format("; `{}` lists them\n", lister);
  }
  return text;
}

}  // namespace

OpenOptions ReadingOptions::open_options() const {
  OpenOptions open{.files = files,
                   .programs = programs,
                   .limits = {},
                   .format_description = format_description,
                   .thread_names = thread_names,
                   .source_places = text_has_places || json || csv};
  if (max_decompressed_bytes != 0) {
    open.limits.max_decompressed_bytes = max_decompressed_bytes;
    open.limits.max_ratio = 0;
  }
  return open;
}

Result<CallFilter> ReadingOptions::filter() const {
  CallFilter filter;
  for (const std::string& text : threads) {
    const auto thread = parse_thread(text);
    if (!thread) return usage_error("--thread needs TID, PID:TID or PID.N:TID, but got " + text);
    filter.threads.push_back(*thread);
  }
  if (!time.empty()) {
    const std::optional<Window> window = parse_window(time);
    if (window && window->ends_before_it_begins())
      return usage_error("--time: the window ends before it begins: " + time);
    if (!window) {
      return usage_error(
          "--time needs FROM..TO, such as 1.5ms..2s, 0.2..1 (seconds) or -10ms.. (the last 10 "
          "ms), but got " +
          time);
    }
    filter.from_ns = window->from_ns;
    filter.to_ns = window->to_ns;
    filter.from_is_before_end = window->from_is_before_end;
    filter.to_is_before_end = window->to_is_before_end;
  }
  filter.functions = functions;
  filter.matched = std::make_shared<std::vector<std::atomic<bool>>>(functions.size());
  if (depth != 0) filter.max_depth = depth;
  return filter;
}

std::optional<uint64_t> parse_duration_option(std::string_view text) {
  return parse_duration(text, 1'000'000'000);
}

NameStyle ReadingOptions::name_style() const {
  if (names.empty()) return json || csv ? NameStyle::full : NameStyle::short_names;
  if (names == "mangled") return NameStyle::mangled;
  return names == "full" ? NameStyle::full : NameStyle::short_names;
}

namespace {

// Verbs whose answer is a text to read.
bool prints_pages(std::string_view verb) {
  static constexpr std::string_view kPrint[] = {"info",   "top",       "report", "stacks",
                                                "replay", "slow",      "diff",   "dump",
                                                "check",  "histogram", "paths",  "resolve"};
  return std::ranges::find(kPrint, verb) != std::end(kPrint);
}

void add_filter_options(Command verb, ReadingOptions& options) {
  verb.add_option("--thread", options.threads,
                  "only these threads; N: of several processes with this id, as info names them")
      .type_name("[PID[.N]:]TID")
      .one_value_each();
  verb.add_option("--time", options.time,
                  "only what begins in this window of time since the start of the recording: "
                  "FROM..TO or FROM-TO, FROM inclusive and TO exclusive; times have a unit (ns, "
                  "us, ms, s) or are seconds; either may be omitted; -10ms.. counts from the end")
      .type_name("FROM..TO");
  verb.add_option("--function", options.functions,
                  "only functions whose short, full or linkage name matches this shell pattern")
      .type_name("GLOB")
      .one_value_each();
  verb.add_option(
          "--depth", options.depth,
          "only calls up to this depth; 1 is the outermost call of a thread; 0, the default: "
          "all calls")
      .type_name("N");
}

}  // namespace

void add_reading_options(Command verb, ReadingOptions& options) {
  options.verb = verb.name();
  verb.add_option(
          "FILE", options.files,
          "recordings; several are read as one; a folder means all recordings in it; - means "
          "standard input")
      .required();
  verb.add_option("--program", options.programs,
                  "program, shared object or separate debug file that maps ids to functions; "
                  "OBJECT=PATH for the object with that number")
      .type_name("BIN")
      .one_value_each();
  add_format_description_option(verb, options);
  verb.add_flag(
      "--strict", options.strict,
      "exit status 4 if part of the input is damaged or lost, or if check finds it invalid");
  verb.add_flag("--json", options.json, "print JSON with stable keys");
  verb.add_option("-j,--jobs", options.jobs, "threads to work with; 0: one per core")
      .type_name("N")
      .in_range(uint64_t{0}, kMostWorkers);
  verb.add_option(
          "--max-decompressed-bytes", options.max_decompressed_bytes,
          "read compressed input up to this size, whatever its ratio (default: 4 GiB, ratio 200)")
      .type_name("N");
  add_filter_options(verb, options);
  add_terminal_options(verb, options.terminal);
  verb.before_callback([&options] {
    begin_terminal(options.terminal, prints_pages(options.verb) && !options.follow);
  });
}

void add_format_description_option(Command verb, ReadingOptions& options) {
  verb.add_option(
          "--format-description", options.format_description,
          "StackTrack: output of expand_events --show_format on the platform of the recordings")
      .type_name("FILE");
}

void add_follow_option(Command verb, ReadingOptions& options) {
  verb.add_flag("--follow", options.follow,
                "the recording is still being written: print the answer again whenever it grows");
}

void add_names_option(Command verb, ReadingOptions& options) {
  verb.add_option("--names", options.names,
                  "names of functions; default: short in text and pages, full in --json and --csv")
      .one_of({"short", "full", "mangled"});
}

Option add_limit_option(Command verb, size_t& rows, const std::string& description) {
  return verb.add_option("-n,--limit,--rows", rows, description).type_name("N");
}

void settle_window(const Recording& recording, const ReadingOptions& options, CallFilter& filter) {
  if (filter.counts_from_end()) filter.settle(recording.info(options.jobs).span_ns());
}

void add_csv_option(Command verb, ReadingOptions& options) {
  verb.add_flag("--csv", options.csv, "print CSV").excludes("--json");
}

int report_error(const Error& error) {
  print_message("telltale: {}\n", visible(to_string(error)));
  return error.cause == Error::Cause::usage ? kUsage : kUnreadable;
}

Result<void> check_options(const ReadingOptions& options, const CallFilter& filter,
                           const Recording& recording) {
  if (recording.timed_calls() != nullptr) return {};
  const std::string_view noun = recording.noun();
  if (recording.paths_in_frames() != nullptr) {
    if (filter.keeps_every_time() && filter.max_depth == CallFilter().max_depth && !options.follow)
      return {};
    return usage_error(fmt::format(
        "{} has no times and depths: of the filters it takes --thread and --function", noun));
  }
  if (!filter.threads.empty() || !filter.keeps_every_time() ||
      filter.max_depth != CallFilter().max_depth) {
    return usage_error(fmt::format(
        "{} has no threads, times or depths; the only filter for it is --function", noun));
  }
  if (options.follow)
    return usage_error(
        fmt::format("{} is written in one piece and cannot be read with --follow", noun));
  return {};
}

int answer_recording(const ReadingOptions& options,
                     const std::function<int(const Recording&, const CallFilter&)>& answer) {
  const Result<CallFilter> filter = options.filter();
  if (!filter) return report_error(filter.error());
  bool again = false;
  return answer_and_follow(options, [&](std::vector<int64_t>& writers) -> int {
    if (std::exchange(again, true)) part_answers();
    Result<std::vector<InputFile>> inputs = open_inputs(options);
    if (!inputs) return report_error(inputs.error());
    auto recording = open_recording(*std::move(inputs), options.open_options());
    if (!recording) return report_error(recording.error());
    Result<void> usable = check_use(options.verb, **recording);
    if (usable) usable = check_options(options, *filter, **recording);
    if (!usable) return report_error(usable.error());
    recording = with_net_option(*std::move(recording), options);
    if (!recording) return report_error(recording.error());
    const Recording& opened = **recording;
    writers = opened.writers();
    CallFilter settled = *filter;
    settle_window(opened, options, settled);
    const ProgressLine progress(opened);
    const int status = answer(opened, settled);
    if (status != kUsage && opened.timed_calls() != nullptr)
      remark_unmatched(*opened.timed_calls(), settled, options.jobs);
    return status;
  });
}

int answer_and_follow(const ReadingOptions& options,
                      const std::function<int(std::vector<int64_t>& writers)>& answer) {
  std::vector<int64_t> writers;
  if (!options.follow) return answer(writers);
  if (std::ranges::find(options.files, "-") != options.files.end())
    return report_error(usage_error("--follow needs files, not standard input").error());
  options.follower->begin(options.files);
  // Messages that equal those of the previous answer are repeated only if the screen was cleared.
  const bool clears = ::isatty(STDOUT_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
  std::string said;
  const auto once = [&] {
    const CollectedMessages messages;
    const int status = answer(writers);
    if (clears || messages.text() != said) write_message(messages.text());
    said = messages.text();
    return status;
  };
  int status = once();
  // A wrong command line stays wrong, however much is written.
  while (status != kUsage && !print_failed() && options.follower->more(writers)) status = once();
  print_message("{}", options.follower->complaints());
  return status == kDone ? options.follower->held_status() : status;
}

Result<std::vector<InputFile>> open_inputs(const ReadingOptions& options) {
  Result<std::vector<InputFile>> inputs = open_inputs(options.open_options());
  options.read->clear();
  if (!inputs || !options.strict) return inputs;
  for (const InputFile& input : *inputs) options.read->push_back(input.share());
  return inputs;
}

int strict_status(const ReadingOptions& options, const ProblemLog& problems) {
  if (!options.strict) return kDone;
  if (problems.damaged()) return kDamaged;
  // The data of this answer was undamaged; judge the rest of the files.
  for (const InputFile& input : *options.read) {
    const Result<FileCheck> checked = check_file(input, options.open_options(), nullptr);
    if (!checked) return report_error(checked.error());
    if (checked->valid) continue;
    print_message("telltale: {}", describe_unsound(*checked));
    return kDamaged;
  }
  return kDone;
}

int report_problems(const ReadingOptions& options, const ProblemLog& problems,
                    std::string_view lister) {
  std::string complaints = describe_problems(problems, lister);
  const int status = strict_status(options, problems);
  if (options.follow) {
    options.follower->hold_back(std::move(complaints), status);
    return kDone;
  }
  print_message("{}", complaints);
  if (problems.damaged()) remark_writers(options.open_options());
  return status;
}

bool print(std::string_view text) {
  const Result<void> printed = print_block(text);
  if (printed || print_has_failed) return printed.has_value();
  print_has_failed = true;
  report_error(printed.error());
  return false;
}

bool print_failed() { return print_has_failed; }

Result<void> print_block(std::string_view block) {
  ProgressLine::end();
  if (std::fwrite(block.data(), 1, block.size(), stdout) == block.size() &&
      std::fflush(stdout) == 0)
    return {};
  return io_error("standard output", "cannot write", errno);
}

}  // namespace telltale::cli
