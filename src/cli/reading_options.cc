#include "cli/reading_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "cli/verbs.h"
#include "output/escape.h"

namespace telltale::cli {
namespace {

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "1.5ms" as nanoseconds; without a unit the number is nanoseconds.
std::optional<uint64_t> parse_duration(std::string_view text) {
  struct Unit {
    std::string_view suffix;
    double ns;
  };
  static constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.suffix)) continue;
    const auto number = parse_number<double>(text.substr(0, text.size() - unit.suffix.size()));
    if (!number || !(*number >= 0) || *number * unit.ns > 1.8e19) return std::nullopt;
    return static_cast<uint64_t>(*number * unit.ns);
  }
  return parse_number<uint64_t>(text);
}

std::optional<CallFilter::Thread> parse_thread(std::string_view text) {
  CallFilter::Thread thread;
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    thread.pid = parse_number<int64_t>(text.substr(0, colon));
    if (!thread.pid) return std::nullopt;
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("0x")) {  // as recordings that name threads by address show them
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

// The first few, a line each.
std::string describe_problems(const ProblemLog& problems) {
  constexpr size_t kShown = 5;
  std::string text;
  size_t shown = 0;
  for (const Problem& problem : problems.kept()) {
    if (problem.kind == Problem::Kind::oddity || shown == kShown) continue;
    text += fmt::format("telltale: {}\n", visible(to_string(problem)));
    ++shown;
  }
  if (problems.damage_count() > shown) {
    text += fmt::format("telltale: and {} more; `telltale info` lists them\n",
                        problems.damage_count() - shown);
  }
  return text;
}

}  // namespace

OpenOptions ReadingOptions::open_options() const {
  OpenOptions open{files, programs, {}, format_description};
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
    if (!thread) return usage_error("--thread wants TID or PID:TID, not " + text);
    filter.threads.push_back(*thread);
  }
  if (!time.empty()) {
    const size_t dots = time.find("..");
    const size_t dash = time.find('-');
    const std::string_view all = time;
    std::optional<uint64_t> from = 0;
    std::optional<uint64_t> to = filter.to_ns;
    if (dots == std::string::npos && dash != std::string::npos) {  // mprof-report's way: seconds
      from = parse_duration(time.substr(0, dash) + "s");
      to = parse_duration(time.substr(dash + 1) + "s");
    } else if (dots != std::string::npos) {
      if (dots != 0) from = parse_duration(all.substr(0, dots));
      if (dots + 2 != all.size()) to = parse_duration(all.substr(dots + 2));
    }
    if ((dots == std::string::npos && dash == std::string::npos) || !from || !to || *from > *to) {
      return usage_error("--time wants FROM..TO, such as 1.5ms..2s, not " + time);
    }
    filter.from_ns = *from;
    filter.to_ns = *to;
  }
  filter.functions = functions;
  if (depth != 0) filter.max_depth = depth;
  return filter;
}

namespace {

void add_filter_options(CLI::App& verb, ReadingOptions& options) {
  verb.add_option("--thread", options.threads, "only these threads")
      ->type_name("[PID:]TID")
      ->allow_extra_args(false);
  verb.add_option("--time", options.time,
                  "only what begins in this window, counted from the recording's start")
      ->type_name("FROM..TO");
  verb.add_option("--function", options.functions,
                  "only functions whose name matches this shell pattern")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  verb.add_option("--depth", options.depth,
                  "only calls at most this deep; 1 is a thread's outermost")
      ->type_name("N");
}

}  // namespace

void add_reading_options(CLI::App& verb, ReadingOptions& options) {
  verb.add_option("FILE", options.files, "recordings; several are read as one; - is standard input")
      ->required();
  verb.add_option("--program", options.programs,
                  "program, shared object or separate debug file that says what ids mean; "
                  "OBJECT=PATH for the "
                  "object with that number")
      ->type_name("BIN")
      ->allow_extra_args(false);
  add_format_description_option(verb, options);
  verb.add_flag("--strict", options.strict,
                "exit status 4 when something in the input was damaged or lost");
  verb.add_flag("--json", options.json, "print JSON with stable keys");
  verb.add_option("-j,--jobs", options.jobs, "threads to work with; 0: one per core")
      ->type_name("N");
  verb.add_option(
          "--max-decompressed-bytes", options.max_decompressed_bytes,
          "read compressed input up to this size, whatever its ratio (default: 4 GiB, ratio 200)")
      ->type_name("N");
  add_filter_options(verb, options);
}

void add_format_description_option(CLI::App& verb, ReadingOptions& options) {
  verb.add_option("--format-description", options.format_description,
                  "StackTrack: what expand_events --show_format prints on the platform that the "
                  "recordings are from")
      ->type_name("FILE");
}

void add_follow_option(CLI::App& verb, ReadingOptions& options) {
  verb.add_flag("--follow", options.follow,
                "the recording is still being written: answer again whenever it has grown");
}

void add_csv_option(CLI::App& verb, ReadingOptions& options) {
  verb.add_flag("--csv", options.csv, "print CSV")->excludes("--json");
}

int report_error(const Error& error) {
  fmt::print(stderr, "telltale: {}\n", visible(to_string(error)));
  return error.cause == Error::Cause::usage ? kUsage : kUnreadable;
}

std::vector<int64_t> writers_of(const AnyRecording& recording) {
  return std::visit(
      [](const auto& source) {
        std::set<int64_t> pids;
        for (const EventStream& stream : source.streams()) pids.insert(stream.thread.pid);
        return std::vector<int64_t>(pids.begin(), pids.end());
      },
      recording);
}

Result<SamplerReports> open_counts(std::vector<InputFile> inputs, const ReadingOptions& options,
                                   const CallFilter& filter) {
  const bool by_time = filter.from_ns != 0 || filter.to_ns != CallFilter().to_ns;
  if (!filter.threads.empty() || by_time || filter.max_depth != CallFilter().max_depth) {
    return usage_error(
        "a feedback report has no threads, times and depths: of the filters it takes --function");
  }
  if (options.follow) return usage_error("a feedback report is written at once: no --follow");
  return SamplerReports::open(std::move(inputs), {options.programs, options.open_options().limits});
}

int answer_and_follow(const ReadingOptions& options,
                      const std::function<int(std::vector<int64_t>& writers)>& answer) {
  std::vector<int64_t> writers;
  if (!options.follow) return answer(writers);
  if (std::ranges::find(options.files, "-") != options.files.end())
    return report_error(usage_error("--follow needs files, not standard input").error());
  options.follower->begin(options.files);
  int status = answer(writers);
  while (options.follower->more(writers)) status = answer(writers);
  fmt::print(stderr, "{}", options.follower->complaints());
  return status == kDone ? options.follower->held_status() : status;
}

int report_problems(const ReadingOptions& options, const ProblemLog& problems) {
  std::string complaints = describe_problems(problems);
  const int status = options.strict && problems.damaged() ? kDamaged : kDone;
  if (options.follow) {
    options.follower->hold_back(std::move(complaints), status);
    return kDone;
  }
  fmt::print(stderr, "{}", complaints);
  return status;
}

bool print(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

Result<void> print_block(std::string_view block) {
  if (print(block)) return {};
  return io_error("standard output", "cannot write", errno);
}

}  // namespace telltale::cli
