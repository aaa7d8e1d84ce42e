// `telltale paths`: what the functions on the stacks of a crashed or running program executed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utc_time.h"
#include "cli/options/changed_sources.h"
#include "cli/options/message.h"
#include "cli/options/missing_programs.h"
#include "cli/options/output_option.h"
#include "cli/options/progress_line.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/open_debugger_text.h"
#include "import/open_process.h"
#include "import/stack_paths.h"
#include "output/escape.h"
#include "output/output_file.h"
#include "program/stored_cores.h"
#include "report/paths/path_report.h"
#include "report/paths/paths_page.h"
#include "report/paths/slice_report.h"

namespace telltale::cli {
namespace {

struct PathsOptions {
  ReadingOptions reading;
  std::optional<uint64_t> pid;
  std::string variables;  // file of a debugger's text; empty: none
  std::string stored;     // which core file of systemd-coredump; empty: none
  std::string stored_folder = kStoredCores;
  bool html = false;
  bool slice = false;
  size_t slice_lines = 100;
  bool system_headers = false;
  OutputOption output;
};

Result<void> write(const std::vector<ThreadPaths>& threads, const Recording& recording,
                   ProblemLog& problems, const PathsOptions& options) {
  const std::string why = recording.paths_in_frames()->why_stopped();
  const PathsView view{.names = options.reading.name_style(),
                       .system_headers = options.system_headers};
  SourceLines sources(recording.paths_in_frames()->built_sources(problems));
  if (options.reading.json) {
    ask_for_sources(threads, sources);
    add_changed_sources(sources.changed(), problems);
  }
  Result<OutputFile> out = open_output(options.output);
  if (!out) return std::unexpected(out.error());
  Result<void> done =
      options.html
          ? write_paths_page(threads, recording.input(0).name(), why, view, problems, sources, *out)
      : options.reading.json
          ? out->write(paths_document(threads, why, recording.format().name, problems))
      : options.slice
          ? out->write(slice_text(threads, why, view.names, options.slice_lines, sources))
          : out->write(paths_text(threads, why, view, sources));
  if (done) done = out->finish();
  tell_changed_sources(sources.changed());
  return done;
}

// Whether a frame says what it ran: by its paths, or by other evidence.
bool has_paths(const ThreadPaths& thread) {
  return std::ranges::any_of(thread.frames, [](const FramePaths& frame) {
    return !frame.decoded.empty() || !frame.lines.empty() || !frame.blocks.empty();
  });
}

// Why none of the frames has paths.
std::string_view why_no_paths(const StackPaths& stacks) {
  ProblemLog told_before;
  const Result<std::vector<FunctionCoverage>> coverage = stacks.coverage(told_before);
  if (coverage && !coverage->empty()) {
    return "no function on these stacks has paths: the functions that keep paths were not called "
           "or had returned; telltale coverage shows what ran";
  }
  return "no function on these stacks has paths: programs keep them if telltale-cc --trace builds "
         "them; of a stripped program, --program takes the separate debug file";
}

int answer(const Recording& recording, const CallFilter& filter, const PathsOptions& options) {
  const StackPaths& stacks = *recording.paths_in_frames();
  ProblemLog problems;
  problems.merge(recording.problems());
  Result<std::vector<ThreadPaths>> threads = [&] {
    if (!options.slice) return stacks.thread_paths_and_blocks(problems);
    const ProgressLine progress("searching what made the program stop");
    return stacks.thread_paths_and_slice(filter, problems);
  }();
  if (!threads) return report_error(threads.error());
  const bool has_threads = !threads->empty();
  const bool have_paths = std::ranges::any_of(*threads, has_paths);
  const std::vector<ThreadPaths> chosen = choose_paths(*std::move(threads), filter);
  if (const Result<void> done = write(chosen, recording, problems, options); !done)
    return report_error(done.error());
  if (std::ranges::all_of(chosen, [](const ThreadPaths& thread) {
        return thread.frames.empty() && thread.cut.empty();
      })) {
    print_message("telltale: {}\n", has_threads
                                        ? "no function on the stacks is in what the options select"
                                        : "no thread is in what was left of the program");
  } else if (std::ranges::none_of(chosen, has_paths) && !tell_missing_programs(problems)) {
    print_message("telltale: {}\n",
                  have_paths ? "no function that the options select tells what it ran; others on "
                               "these stacks do"
                             : why_no_paths(stacks));
  }
  return report_problems(options.reading, problems);
}

// Stops the process for as long as its stacks are copied.
int answer_process(const PathsOptions& options) {
  constexpr uint64_t kMostPid = 1U << 22;  // PID_MAX_LIMIT of Linux
  if (*options.pid == 0 || *options.pid > kMostPid)
    return report_error(usage_error(fmt::format("--pid {} is no process", *options.pid)).error());
  const Result<CallFilter> filter = options.reading.filter();
  if (!filter) return report_error(filter.error());
  const Result<ProcessRecording> process =
      open_process(static_cast<pid_t>(*options.pid), options.reading.open_options());
  if (!process) return report_error(process.error());
  const Recording& recording = *process->recording;
  if (const Result<void> checked = check_options(options.reading, *filter, recording); !checked)
    return report_error(checked.error());
  print_message("telltale: process {} was stopped for {:.1f} ms\n", *options.pid,
                std::chrono::duration<double, std::milli>(process->stopped).count());
  return answer(recording, *filter, options);
}

int answer_variables(const PathsOptions& options) {
  const Result<CallFilter> filter = options.reading.filter();
  if (!filter) return report_error(filter.error());
  const auto recording = open_debugger_text(options.variables, options.reading.open_options());
  if (!recording) return report_error(recording.error());
  if (const auto checked = check_options(options.reading, *filter, **recording); !checked)
    return report_error(checked.error());
  return answer(**recording, *filter, options);
}

// Of a core file that systemd-coredump stored.
int answer_stored(PathsOptions options) {
  const Result<StoredCore> core = find_stored_core(options.stored_folder, options.stored);
  if (!core) return report_error(core.error());
  print_message("telltale: {}: {}, process {}, {}\n", visible(core->path), visible(core->command),
                core->pid, utc_iso(static_cast<int64_t>(core->microseconds / 1'000'000)));
  options.reading.files = {core->path};
  // Most of a core file are zeros: it is no decompression bomb.
  if (options.reading.max_decompressed_bytes == 0)
    options.reading.max_decompressed_bytes = InputLimits().max_decompressed_bytes;
  return answer_recording(options.reading,
                          [&](const Recording& recording, const CallFilter& filter) {
                            return answer(recording, filter, options);
                          });
}

int run(const PathsOptions& options) {
  if (const auto free = check_output(options.output, options.reading); !free)
    return report_error(free.error());
  if (const auto free = check_output(options.output, std::vector{options.variables}); !free)
    return report_error(free.error());
  if (!options.stored.empty()) return answer_stored(options);
  if (!options.variables.empty()) return answer_variables(options);
  if (options.pid) return answer_process(options);
  if (options.reading.files.empty())
    return report_error(
        usage_error("give a core file, a process with --pid, or --coredump last").error());
  return answer_recording(options.reading,
                          [&](const Recording& recording, const CallFilter& filter) {
                            return answer(recording, filter, options);
                          });
}

}  // namespace

void add_paths_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "paths",
      "show which lines the functions on the stacks of a crashed or running program executed");
  const auto options = std::make_shared<PathsOptions>();
  add_reading_options(verb, options->reading);
  verb.option("FILE").optional().description(
      "core file or minidump; compressed ones and \"-\", standard input, too");
  verb.add_option(
          "--pid", options->pid,
          "read the stacks of this running process, which is stopped for a few milliseconds")
      .type_name("PID")
      .excludes("FILE");
  verb.add_option("--variables", options->variables,
                  "read frames and variables that a debugger printed (gdb: backtrace full); with "
                  "--program")
      .type_name("FILE")
      .excludes("FILE")
      .excludes("--pid");
  verb.add_option("--coredump", options->stored,
                  "read a core file that systemd-coredump keeps: the newest of all (last), of a "
                  "process id, or of a command")
      .type_name("WHICH")
      .excludes("FILE")
      .excludes("--pid")
      .excludes("--variables");
  verb.add_option("--coredump-folder", options->stored_folder, "where those core files are")
      .type_name("DIR")
      .needs("--coredump")
      .show_default();
  verb.add_flag("--slice", options->slice,
                "show the lines that may have made the first thread stop, by data and control, of "
                "what may have run")
      .excludes("--variables");
  verb.add_flag("--system-headers", options->system_headers,
                "also show lines that were inlined from headers of the system, such as the "
                "standard library's")
      .excludes("--json")
      .excludes("--slice");
  verb.add_flag("--html", options->html,
                "write a page: source in the order in which it ran, to step through")
      .excludes("--json");
  add_limit_option(verb, options->slice_lines,
                   "lines of the text of the slice, the nearest first; 0: all")
      .needs("--slice")
      .excludes("--json")
      .excludes("--html")
      .show_default();
  add_names_option(verb, options->reading);
  verb.option("--names").excludes("--json");
  add_output_option(verb, options->output).show_default();
  choose_form_by_name(verb, {{kPageExtensions, "--html"}, {".json", "--json"}});
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
