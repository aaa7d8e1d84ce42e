#include <fmt/format.h>

#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "cli/options/function_match.h"
#include "cli/options/reading_options.h"
#include "cli/options/recording_writer.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/timed_calls.h"
#include "model/thread_text.h"
#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table/json_document.h"
#include "output/table/object_writer.h"
#include "output/table/screen.h"
#include "output/table/table.h"
#include "report/schemas/schemas.h"

namespace telltale::cli {
namespace {

// Names of threads and processes; those without a name are missing.
struct RecordedNames {
  std::map<ThreadKey, std::string> threads;
  std::map<std::pair<int64_t, uint32_t>, std::string> processes;  // by pid, ThreadKey::process

  static std::pair<int64_t, uint32_t> process_of(const ThreadKey& thread) {
    return {thread.pid, thread.process};
  }
  explicit RecordedNames(const Recording& recording) {
    if (recording.timed_calls() == nullptr) return;
    for (const EventStream& stream : recording.timed_calls()->streams()) {
      if (!stream.thread_name.empty()) threads[stream.thread] = stream.thread_name;
      if (!stream.process_name.empty()) processes[process_of(stream.thread)] = stream.process_name;
    }
  }
};

std::string to_json(const RecordingInfo& info, const RecordedNames& names,
                    std::string_view format) {
  std::string out;
  JsonWriter json(out, 2);
  DocumentWriter document(json, schemas::kInfo, format);
  document.add("format", info.format).add("version", info.version);
  document.list("files", [&](ListWriter& files) {
    for (const std::string& file : info.files) files.value(file);
  });
  document.add("bytes", info.bytes).add("records", info.records);
  document.map("records_by_kind", [&](MapWriter& kinds) {
    for (const auto& [kind, count] : info.records_by_kind) kinds.add(kind, count);
  });
  document.map("properties", [&](MapWriter& properties) {
    for (const auto& [name, value] : info.properties) properties.add(name, value);
  });
  document.list("threads", [&](ListWriter& threads) {
    for (const ThreadKey& thread : info.threads) {
      threads.row([&](ObjectWriter& row) {
        row.add("pid", thread.pid).add("tid", thread.tid);
        if (const auto name = names.threads.find(thread); name != names.threads.end())
          row.add("name", name->second);
        if (const auto name = names.processes.find(RecordedNames::process_of(thread));
            name != names.processes.end())
          row.add("process_name", name->second);
        if (thread.process != 0) row.add("process_number", uint64_t{thread.process});
      });
    }
  });
  if (info.timed)
    document.add("clock_hz", info.clock.ticks_per_second).add("span_ns", info.span_ns());
  document.problems(info.problems);
  document.add("problem_count", info.problems.count());
  document.add("lost_bytes", info.problems.lost_bytes()).end();
  return out;
}

void append_line(std::string& out, std::string_view name, std::string_view value) {
  constexpr size_t kValues = 17;
  out +=
      fmt::format("{:<16} {}\n", name, folded(value, std::max(kValues, name.size() + 1), kValues));
}

constexpr size_t kShownThreads = 8;

// "2 (9476 orders, 9481 worker)"; only of recordings of several processes, or with names.
void append_processes(std::string& out, const RecordingInfo& info, const RecordedNames& names) {
  std::set<std::pair<int64_t, uint32_t>> processes;
  for (const ThreadKey& thread : info.threads) processes.insert(RecordedNames::process_of(thread));
  if (processes.size() < 2 && names.processes.empty()) return;
  std::string words;
  size_t shown = 0;
  for (const auto& process : processes) {
    words += shown == 0 ? " (" : ", ";
    if (++shown > kShownThreads) {
      words += "...";
      break;
    }
    words += process_text({process.first, 0, process.second});
    if (const auto name = names.processes.find(process); name != names.processes.end())
      words += " " + visible(name->second);
  }
  append_line(out, "processes", fmt::format("{}{})", processes.size(), words));
}

void append_times(std::string& out, const RecordingInfo& info, const RecordedNames& names) {
  append_processes(out, info, names);
  append_line(
      out, "span",
      show_duration(info.clock.to_ns_f(static_cast<double>(info.last_time - info.first_time))));
  std::string threads;
  for (size_t i = 0; i < std::min(info.threads.size(), kShownThreads); ++i) {
    const ThreadKey& thread = info.threads[i];
    threads += i == 0 ? " (" : ", ";
    threads += thread_text(thread);
    if (const auto name = names.threads.find(thread); name != names.threads.end())
      threads += " " + visible(name->second);
  }
  if (info.threads.size() > kShownThreads) threads += ", ...";
  append_line(out, "threads",
              fmt::format("{}{}{}", info.threads.size(), threads, threads.empty() ? "" : ")"));
}

// More files are summarised.
constexpr size_t kMostFiles = 8;

// "120 (a.xray, b.xray, ...)", or a line for each file.
void append_files(std::string& out, const RecordingInfo& info) {
  if (info.files.size() <= kMostFiles) {
    for (const std::string& file : info.files) append_line(out, "file", visible(file));
    return;
  }
  std::string words;
  for (const std::string& file : info.files | std::views::take(kMostFiles))
    words += visible(file) + ", ";
  append_line(out, "files", fmt::format("{} ({}...)", info.files.size(), words));
}

// A property of one file is named "FILE NAME". Returns its NAME; empty: it is of all files.
std::string_view name_of_one(std::string_view name, const std::set<std::string_view>& files) {
  for (size_t blank = name.rfind(' '); blank != std::string_view::npos && blank != 0;
       blank = name.rfind(' ', blank - 1)) {
    if (files.contains(name.substr(0, blank))) return name.substr(blank + 1);
  }
  return {};
}

// "process" of "process 12", a property of one of several; empty: it is of no such one.
std::string_view numbered_name(std::string_view name) {
  const size_t blank = name.rfind(' ');
  if (blank == std::string_view::npos || blank + 1 == name.size()) return {};
  const bool numbered = name.find_first_not_of("0123456789.", blank + 1) == std::string_view::npos;
  return numbered ? name.substr(0, blank) : std::string_view();
}

// Those of all files, then of many files what few of them say differently.
void append_properties(std::string& out, const RecordingInfo& info) {
  if (info.files.size() <= kMostFiles) {
    for (const auto& [name, value] : info.properties) append_line(out, name, visible(value));
    return;
  }
  const std::set<std::string_view> files(info.files.begin(), info.files.end());
  std::map<std::string_view, size_t> numbered_lines;
  std::vector<std::string_view> names;
  std::map<std::string_view, std::map<std::string_view, size_t>> values;  // with numbers of files
  for (const auto& [name, value] : info.properties) {
    const std::string_view of_one = name_of_one(name, files);
    if (of_one.empty()) {
      const std::string_view numbered = numbered_name(name);
      const size_t shown = numbered.empty() ? 0 : numbered_lines[numbered]++;
      if (shown < kMostFiles) append_line(out, name, visible(value));
      if (shown == kMostFiles) append_line(out, numbered, "more of them; --json has all");
      continue;
    }
    if (!values.contains(of_one)) names.push_back(of_one);
    ++values[of_one][value];
  }
  constexpr size_t kMostValues = 3;
  for (const std::string_view name : names) {
    if (values[name].size() > kMostValues) continue;
    std::string words;
    for (const auto& [value, count] : values[name]) {
      words += fmt::format("{}{} ({})", words.empty() ? "" : "; ", visible(std::string(value)),
                           counted(count, "file"));
    }
    append_line(out, name, words);
  }
  if (!names.empty()) append_line(out, "each file", "--json, or info with this file alone");
}

// " in 2 of 120 files", for recordings of many files.
std::string files_with_problems(const RecordingInfo& info, const std::vector<Problem>& kept) {
  if (info.files.size() <= kMostFiles) return {};
  std::set<std::string_view> files;
  for (const Problem& problem : kept) files.insert(problem.file);
  return fmt::format(" in {}{} of {} files", kept.size() < info.problems.count() ? "at least " : "",
                     files.size(), info.files.size());
}

std::string to_text(const RecordingInfo& info, const RecordedNames& names) {
  std::string out;
  const auto line = [&out](std::string_view name, std::string_view value) {
    append_line(out, name, value);
  };
  append_files(out, info);
  line("format", fmt::format("{} version {}", info.format, info.version));
  line("size", fmt::format("{} bytes", info.bytes));
  append_properties(out, info);
  if (info.timed) append_times(out, info, names);
  line("records", fmt::format("{}", info.records));
  for (const auto& [kind, count] : info.records_by_kind)
    out += fmt::format("  {:<20} {:>14}\n", kind, count);

  if (info.problems.count() == 0) {
    line("problems", "none");
    return out;
  }
  const std::vector<Problem> kept = info.problems.kept();
  line("problems", fmt::format("{}{}; {} bytes lost", info.problems.count(),
                               files_with_problems(info, kept), info.problems.lost_bytes()));
  constexpr size_t kShownProblems = 20;
  for (size_t i = 0; i < std::min(kept.size(), kShownProblems); ++i) {
    out +=
        "  " +
        folded(fmt::format("{}: {}", problem_kind_name(kept[i].kind), visible(to_string(kept[i]))),
               2, 4) +
        "\n";
  }
  if (info.problems.count() > kShownProblems) {
    out += fmt::format("  and {} more; --json lists the first {}\n",
                       info.problems.count() - kShownProblems, kept.size());
  }
  return out;
}

int run(const ReadingOptions& options) {
  return answer_recording(options, [&](const Recording& recording, const CallFilter& filter) {
    const RecordingInfo info = recording.info(options.jobs, filter);
    const RecordedNames names(recording);
    print(options.json ? to_json(info, names, recording.format().name) : to_text(info, names));
    if (const TimedCalls* const calls = recording.timed_calls())
      remark_no_match_at_any_time(*calls, filter, options.jobs);
    if (info.problems.damaged() && !options.follow) remark_writers(options.open_options());
    return strict_status(options, info.problems);
  });
}

}  // namespace

void add_info_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "info", "describe a recording: format, threads, span, records by kind, problems");
  const auto options = std::make_shared<ReadingOptions>();
  add_reading_options(verb, *options);
  add_follow_option(verb, *options);
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
