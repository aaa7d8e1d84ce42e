#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "analysis/calls/profile.h"
#include "base/joined.h"
#include "base/sort_rows.h"
#include "cli/options/counts_options.h"
#include "cli/options/function_match.h"
#include "cli/options/measure_option.h"
#include "cli/options/net_option.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/timed_calls.h"
#include "model/waiting.h"
#include "output/table/json_document.h"
#include "output/table/table.h"
#include "report/calls/function_table.h"
#include "report/schemas/schemas.h"
#include "report/sites/top_sites.h"

namespace telltale::cli {
namespace {

struct TopOptions {
  ReadingOptions reading;
  std::string sort = "self";
  std::string fields;  // empty: the usual columns
  size_t limit = 0;    // 0: all
  bool exact = false;
  bool by_thread = false;
  bool by_process = false;
  bool all_columns = false;
  CountsOptions counts;
};

// Sort keys of --sort, largest first. Ties are ordered by thread and id, so that output is
// deterministic.
const std::vector<std::pair<std::string, uint64_t FunctionProfile::*>> kSortKeys = {
    {"self", &FunctionProfile::self},     {"total", &FunctionProfile::total},
    {"sum", &FunctionProfile::sum},       {"calls", &FunctionProfile::calls},
    {"min", &FunctionProfile::min},       {"max", &FunctionProfile::max},
    {"median", &FunctionProfile::median}, {"p90", &FunctionProfile::p90},
    {"p99", &FunctionProfile::p99},       {"open", &FunctionProfile::unfinished},
};

void sort_by(std::vector<FunctionRow>& rows, const std::string& key, const FunctionNames& names) {
  if (key == "name") {
    sort_rows(rows, {}, [&](const FunctionRow& row) -> const std::string& {
      return names.describe(row.profile.function).name;
    });
    return;
  }
  const auto found =
      std::ranges::find(kSortKeys, key, [](const auto& entry) { return entry.first; });
  sort_rows(rows, [&](const FunctionRow& a, const FunctionRow& b) {
    if (key == "id") return a.profile.function < b.profile.function;
    return a.profile.*(found->second) > b.profile.*(found->second);
  });
}

// The threads that the filter keeps, by what the rows are of.
std::vector<std::vector<const EventStream*>> groups_of(const TimedCalls& calls,
                                                       const CallFilter& filter,
                                                       ProfileGroup group) {
  std::vector<std::vector<const EventStream*>> groups;
  for (const EventStream& stream : calls.streams()) {  // by process
    if (!filter.keeps_thread(stream.thread)) continue;
    // A thread of several recordings of a process has several streams.
    const auto is_new = [&](const ThreadKey& last) {
      return group == ProfileGroup::thread
                 ? last != stream.thread
                 : last.pid != stream.thread.pid || last.process != stream.thread.process;
    };
    const bool another = groups.empty() || is_new(groups.back().front()->thread);
    if (another) groups.emplace_back();
    groups.back().push_back(&stream);
  }
  return groups;
}

int answer(const Recording& recording, const TimedCalls& calls, const TopOptions& options,
           CallFilter filter) {
  const ProfileGroup group = options.by_thread    ? ProfileGroup::thread
                             : options.by_process ? ProfileGroup::process
                                                  : ProfileGroup::none;
  const Result<std::vector<std::string_view>> columns = parse_function_columns(options.fields);
  if (!columns) return report_error(columns.error());
  ProblemLog problems = recording.problems();
  // Filters rows by name afterwards, so that they show a function's true self time.
  CallFilter name_filter;
  name_filter.functions = std::move(filter.functions);
  name_filter.matched = filter.matched;
  filter.functions.clear();
  // For the remark why there are no rows.
  name_filter.threads = filter.threads;
  name_filter.from_ns = filter.from_ns;
  name_filter.to_ns = filter.to_ns;

  std::vector<FunctionRow> rows;
  Ticks whole = 0;
  Ticks waited = 0;
  const auto add_rows = [&](const EventStream* of, const CallFilter& which) {
    const Profile profile = calls.profile({which, options.reading.jobs, options.exact}, problems);
    for (const FunctionProfile& row : profile.functions) {
      whole += row.self;
      if (row.function == kWaiting) waited += row.self;
      if (name_filter.matches(calls.functions().describe(row.function))) rows.push_back({of, row});
    }
  };
  if (group == ProfileGroup::none) {
    add_rows(nullptr, filter);
  } else {
    for (const std::vector<const EventStream*>& streams : groups_of(calls, filter, group)) {
      CallFilter one = filter;
      one.threads.clear();
      for (const EventStream* stream : streams)
        one.threads.push_back({stream->thread.pid, stream->thread.tid, stream->thread.process});
      add_rows(streams.front(), one);
    }
  }
  const StyledNames names(calls.functions(), options.reading.name_style());
  sort_by(rows, options.sort, names);
  const size_t found = rows.size();
  if (options.limit != 0 && rows.size() > options.limit) rows.resize(options.limit);

  const bool for_people = !options.reading.json && !options.reading.csv;
  const Table table = function_table(rows,
                                     {.group = group,
                                      .all_columns = options.all_columns || !for_people,
                                      .for_people = for_people,
                                      .columns = *columns,
                                      .whole = whole},
                                     calls.clock(), names);
  if (options.reading.json) {
    print(rows_document(schemas::kTop, recording.format().name, table, problems));
  } else if (options.reading.csv) {
    print(table.to_csv());
  } else {
    std::string text = table.to_text();
    if (rows.size() < found)
      text += fmt::format("{} of {} rows; --limit 0 shows all\n", rows.size(), found);
    print(text);
  }
  std::vector<FunctionId> shown;
  for (const FunctionRow& row : rows) shown.push_back(row.profile.function);
  remark_unnamed(names, shown, options.reading);
  if (for_people) remark_waiting(waited, whole);
  if (found == 0 && !remark_no_match(calls, name_filter, options.reading.jobs))
    remark_nothing_measured("time", calls.measures_with_data(options.reading.jobs));
  return report_problems(options.reading, problems);
}

int answer_counts(const SamplerReports& reports, const TopOptions& options,
                  const CallFilter& filter, std::string_view format) {
  if (options.sort != "self" || options.exact || options.by_thread || options.by_process ||
      options.all_columns || !options.fields.empty()) {
    return report_error(
        usage_error(
            "--sort, --fields, --exact, --by-thread, --by-process and --all-columns are for "
            "recordings of calls, not for feedback reports")
            .error());
  }
  const ByteSink sink = print_block;
  BlockWriter out(sink);
  write_top_sites(reports, filter, options.counts,
                  {options.limit, options.reading.json, options.reading.csv, format}, out);
  if (const Result<void> done = out.finish(); !done) return report_error(done.error());
  remark_nothing_observed(reports);
  return report_problems(options.reading, reports.problems());
}

int run(const TopOptions& options) {
  return answer_recording(options.reading, [&](const Recording& recording,
                                               const CallFilter& filter) {
    if (const TimedCalls* calls = recording.timed_calls()) {
      if (options.counts.any()) return report_error(counts_only().error());
      return answer(recording, *calls, options, filter);
    }
    return answer_counts(*recording.counts_at_sites(), options, filter, recording.format().name);
  });
}

// Whether text has the columns that only debug information tells, which takes time to read.
bool shows_places(const TopOptions& options) {
  if (options.all_columns) return true;
  const Result<std::vector<std::string_view>> columns = parse_function_columns(options.fields);
  return columns && std::ranges::any_of(*columns, [](std::string_view key) {
           return key == "file" || key == "line";
         });
}

}  // namespace

void add_top_verb(Command app, int& status) {
  Command verb = app.add_verb("top",
                              "calls and times per function (total, self, min, median, p90, p99, "
                              "max); feedback reports: counts per site");
  const auto options = std::make_shared<TopOptions>();
  add_reading_options(verb, options->reading);
  add_follow_option(verb, options->reading);
  add_csv_option(verb, options->reading);
  add_names_option(verb, options->reading);
  add_net_option(verb, options->reading);
  std::vector<std::string> keys = {"id", "name"};
  for (const auto& [key, member] : kSortKeys) keys.push_back(key);
  verb.add_option("--sort", options->sort,
                  "order of the rows, largest first (id, name: smallest first)")
      .one_of(keys)
      .show_default();
  verb.add_option("--fields", options->fields,
                  "columns to show, in this order: " + joined(function_columns(), ", "))
      .type_name("COLUMN,...");
  add_limit_option(verb, options->limit, "at most this many rows; 0: all");
  verb.add_flag("--exact", options->exact,
                "exact quantiles instead of quantiles within 1 %; needs memory for every call");
  verb.add_flag("--by-thread", options->by_thread, "one row per function and thread");
  verb.add_flag("--by-process", options->by_process, "one row per function and process")
      .excludes("--by-thread");
  verb.add_flag("--all-columns", options->all_columns, "show every column of --json and --csv");
  add_counts_options(verb, options->counts);
  verb.callback([options, &status] {
    options->reading.text_has_places = shows_places(*options);
    status = run(*options);
  });
}

}  // namespace telltale::cli
