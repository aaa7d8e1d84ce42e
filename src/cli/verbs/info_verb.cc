#include <fmt/format.h>

#include <memory>

#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table/json_document.h"
#include "output/table/table.h"
#include "report/schemas/schemas.h"

namespace telltale::cli {
namespace {

std::string to_json(const RecordingInfo& info, std::string_view format) {
  std::string out;
  JsonWriter json(out, 2);
  begin_document(json, schemas::kInfo, format);
  json.member("format", info.format).member("version", info.version);
  json.key("files").begin_array();
  for (const std::string& file : info.files) json.value(file);
  json.end_array();
  json.member("bytes", info.bytes).member("records", info.records);
  json.key("records_by_kind").begin_object();
  for (const auto& [kind, count] : info.records_by_kind) json.member(kind, count);
  json.end_object();
  json.key("properties").begin_object();
  for (const auto& [name, value] : info.properties) json.member(name, value);
  json.end_object();
  json.key("threads").begin_array();
  for (const ThreadKey& thread : info.threads) {
    json.begin_object().member("pid", thread.pid).member("tid", thread.tid).end_object();
  }
  json.end_array();
  if (info.timed)
    json.member("clock_hz", info.clock.ticks_per_second).member("span_ns", info.span_ns());
  write_problems(json, info.problems);
  json.member("problem_count", info.problems.count())
      .member("lost_bytes", info.problems.lost_bytes());
  json.end_object();
  return out;
}

void append_line(std::string& out, std::string_view name, std::string_view value) {
  out += fmt::format("{:<16} {}\n", name, value);
}

void append_times(std::string& out, const RecordingInfo& info) {
  append_line(
      out, "span",
      show_duration(info.clock.to_ns_f(static_cast<double>(info.last_time - info.first_time))));
  std::string threads;
  constexpr size_t kShownThreads = 8;
  for (size_t i = 0; i < std::min(info.threads.size(), kShownThreads); ++i) {
    const ThreadKey& thread = info.threads[i];
    threads += i == 0 ? " (" : ", ";
    threads += thread.pid != 0 ? fmt::format("{}:{}", thread.pid, thread.tid)
                               : fmt::format("{}", thread.tid);
  }
  if (info.threads.size() > kShownThreads) threads += ", ...";
  append_line(out, "threads",
              fmt::format("{}{}{}", info.threads.size(), threads, threads.empty() ? "" : ")"));
}

std::string to_text(const RecordingInfo& info) {
  std::string out;
  const auto line = [&out](std::string_view name, std::string_view value) {
    append_line(out, name, value);
  };
  for (const std::string& file : info.files) line("file", visible(file));
  line("format", fmt::format("{} version {}", info.format, info.version));
  line("size", fmt::format("{} bytes", info.bytes));
  for (const auto& [name, value] : info.properties) line(name, visible(value));
  if (info.timed) append_times(out, info);
  line("records", fmt::format("{}", info.records));
  for (const auto& [kind, count] : info.records_by_kind)
    out += fmt::format("  {:<20} {:>14}\n", kind, count);

  if (info.problems.count() == 0) {
    line("problems", "none");
    return out;
  }
  line("problems",
       fmt::format("{}; {} bytes lost", info.problems.count(), info.problems.lost_bytes()));
  constexpr size_t kShownProblems = 20;
  const std::vector<Problem> kept = info.problems.kept();
  for (size_t i = 0; i < std::min(kept.size(), kShownProblems); ++i) {
    out += fmt::format("  {}: {}\n", problem_kind_name(kept[i].kind), visible(to_string(kept[i])));
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
    print(options.json ? to_json(info, recording.format().name) : to_text(info));
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
