#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "analysis/calls/flame_comparison.h"
#include "analysis/calls/flame_tree.h"
#include "base/counted.h"
#include "base/sort_rows.h"
#include "cli/options/diff_gate.h"
#include "cli/options/function_match.h"
#include "cli/options/left_out_shots.h"
#include "cli/options/measure_option.h"
#include "cli/options/message.h"
#include "cli/options/net_option.h"
#include "cli/options/open_one.h"
#include "cli/options/output_option.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/timed_calls.h"
#include "model/thread_text.h"
#include "model/waiting.h"
#include "output/flame/flame_graph.h"
#include "output/table/table.h"
#include "report/calls/flame_document.h"

namespace telltale::cli {
namespace {

struct FlameOptions {
  ReadingOptions reading;
  OutputOption output;
  std::string measure;
  bool together = false;  // read two files as one recording
  std::vector<std::string> programs_before;
  std::vector<std::string> programs_after;
  double min_percent = 0.01;
  bool has_min_percent = false;
  size_t max_nodes = 100'000;
  size_t max_stack = 1000;
};

constexpr size_t kMaxThreadTrees = 200;
constexpr std::string_view kDrawing = ".svg";

std::string thread_title(const CallTree::Root& root) {
  if (root.thread == ThreadKey() && root.thread_name.empty()) return "all threads";
  std::string title = fmt::format("thread {}", root.thread.tid);
  if (!root.thread_name.empty()) title += " (" + root.thread_name + ")";
  if (root.thread.pid != 0) title += " of process " + process_text(root.thread);
  if (!root.process_name.empty()) title += " (" + root.process_name + ")";
  return title;
}

FlameLimits limits_of(const FlameOptions& options) {
  // By default, the page has at least half of the time.
  return {options.min_percent / 100, options.max_nodes, options.has_min_percent ? 1 : 0.5};
}

// All threads together first; then, if there are several, the busiest threads.
void add_trees(FlameGraph& graph, const CallTree& together, const CallTree& by_thread,
               const FlameOptions& options) {
  if (together.roots.empty()) {
    graph.trees.push_back({"all threads", {.nodes = {FlameTree::Node()}, .before = {}}});
    return;
  }
  graph.trees.push_back(
      {by_thread.roots.size() == 1 ? thread_title(by_thread.roots[0]) : "all threads",
       make_flame_tree(together, together.roots[0], limits_of(options))});
  if (by_thread.roots.size() < 2) return;
  std::vector<CallTree::Root> roots = by_thread.roots;
  if (roots.size() > kMaxThreadTrees) {
    const auto busier = [&](const CallTree::Root& a, const CallTree::Root& b) {
      return by_thread.nodes[a.node].total > by_thread.nodes[b.node].total;
    };
    sort_rows(roots, busier);
    graph.facts.emplace_back("threads not listed",
                             fmt::format("{}, the least busy", roots.size() - kMaxThreadTrees));
    roots.resize(kMaxThreadTrees);
    sort_rows(roots, {}, &CallTree::Root::node);
  }
  FlameLimits limits = limits_of(options);
  limits.max_nodes = std::max<size_t>(limits.max_nodes / roots.size(), 100);
  for (const CallTree::Root& root : roots)
    graph.trees.push_back({thread_title(root), make_flame_tree(by_thread, root, limits)});
}

// What the problems of some kinds say, of the first few: "23586 events lost: without a buffer".
std::string described(const ProblemLog& problems, bool (*of_kind)(Problem::Kind)) {
  constexpr size_t kMost = 3;
  std::string text;
  size_t count = 0;
  for (const Problem& problem : problems.kept()) {
    if (!of_kind(problem.kind) || ++count > kMost) continue;
    text += (text.empty() ? "" : "; ") + problem.message;
    if (problem.lost_bytes != 0)
      text += fmt::format(" ({} lost)", counted(problem.lost_bytes, "byte"));
  }
  if (count > kMost) text += fmt::format("; and {} more", count - kMost);
  return text;
}

void add_facts(FlameGraph& graph, const ReadingOptions& reading, const RecordingInfo& info,
               const CallTree& tree) {
  const auto fact = [&graph](std::string name, std::string value) {
    graph.facts.emplace_back(std::move(name), std::move(value));
  };
  const auto count = [&fact](std::string name, uint64_t number) {
    if (number != 0) fact(std::move(name), fmt::format("{}", number));
  };
  for (const std::string& file : info.files) fact("file", file);
  fact("format", fmt::format("{} version {}", info.format, info.version));
  fact("span",
       show_duration(info.clock.to_ns_f(static_cast<double>(info.last_time - info.first_time))));
  fact("threads", fmt::format("{}", info.threads.size()));
  fact(std::string(graph.units.counted), fmt::format("{}", tree.calls));
  if (!info.clock.known()) fact("clock", "of unknown frequency; a tick is shown as 1 ns");
  count("calls without an exit of their own", tree.unwound);
  count("calls open at the end", tree.unfinished);
  count("exits without an entry", tree.orphan_exits);
  count("calls below the maximum depth", tree.flattened);
  const auto tell = [&](std::string name, bool (*of_kind)(Problem::Kind)) {
    if (const std::string what = described(info.problems, of_kind); !what.empty())
      fact(std::move(name), what);
  };
  tell("losses", is_damage);
  tell("missing by design", [](Problem::Kind kind) { return kind == Problem::Kind::by_design; });
  for (const Problem& problem : info.problems.kept()) {
    if (problem.kind == Problem::Kind::estimate) fact("estimate", problem.message);
  }
  std::string filters;
  const auto filter = [&filters](std::string_view name, const std::string& value) {
    filters += fmt::format("{}--{} {}", filters.empty() ? "" : " ", name, value);
  };
  for (const std::string& thread : reading.threads) filter("thread", thread);
  if (!reading.time.empty()) filter("time", reading.time);
  for (const std::string& function : reading.functions) filter("function", function);
  if (reading.depth != 0) filter("depth", fmt::format("{}", reading.depth));
  if (!filters.empty()) fact("filter", filters);
}

NameStyle names_of(const FlameOptions& options) {
  if (options.reading.names.empty() && options.reading.json) return NameStyle::full;
  return options.reading.name_style();
}

// `format`: of the one recording; empty for two.
Result<void> write(const FlameGraph& graph, const ExportContext& context,
                   const FlameOptions& options, std::string_view format, const ProblemLog& problems,
                   OutputFile& out) {
  if (options.reading.json) {
    return write_flame_document(graph, context.clock, context.functions, format, problems, out);
  }
  const auto draw = options.output.path.ends_with(kDrawing) ? write_flame_svg : write_flame_html;
  return draw(graph, context.clock, context.functions, out);
}

// "each has at most 0.0420 % of"; never "at most 0.0000 %".
std::string at_most_percent(double percent) {
  constexpr double kLeastShown = 0.0001;
  if (percent == 0) return "none has any of";
  if (percent < kLeastShown) return "each has less than 0.0001 % of";
  return fmt::format("each has at most {:.4f} % of", percent);
}

void remark_pruned(const FlameGraph& graph) {
  const FlameTree& shown = graph.trees.front().tree;
  if (shown.pruned_nodes == 0) return;
  print_message(
      "telltale: {} of {} paths are omitted from the page: {} the {} and of the {} "
      "(--min-percent, --max-nodes)\n",
      shown.pruned_nodes, shown.pruned_nodes + shown.nodes.size() - 1,
      at_most_percent(100 * shown.widest_pruned), graph.units.measured_name(), graph.units.counted);
}

void remark_waits(const CallTree& tree) {
  Ticks whole = 0;
  Ticks waited = 0;
  for (const CallTree::Node& node : tree.nodes) {
    whole += node.self;
    if (node.depth != 0 && node.function == kWaiting) waited += node.self;
  }
  remark_waiting(waited, whole);
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

int answer(const Recording& recording, const FlameOptions& options, const CallFilter& filter) {
  const TimedCalls& calls = *recording.timed_calls();
  ProblemLog problems = recording.problems();
  const Result<MeasuredTree> measured =
      calls.measured_tree(measure_of_option(options.measure), filter, options.reading.jobs,
                          options.max_stack, problems);
  if (!measured) return report_error(measured.error());
  const CallTreePartial& partial = measured->partial;
  const ExportContext context = measured_context(calls, *measured);
  const CallTree by_thread = partial.finish(calls.streams());
  FlameGraph graph;
  graph.units = measured->units;
  const RecordingInfo info = info_of_selection(recording, filter, options.reading.jobs);
  graph.title = info.files.empty() ? "recording" : info.files.front();
  graph.title = file_name(graph.title);
  if (info.files.size() > 1) graph.title += fmt::format(" and {} more", info.files.size() - 1);
  add_facts(graph, options.reading, info, by_thread);
  add_trees(graph, partial.without_threads().finish(calls.streams()), by_thread, options);

  if (by_thread.roots.empty() && !options.reading.follow) {
    const Result<void> answers =
        check_measured(options.measure, calls.measures_with_data(options.reading.jobs));
    if (!answers) return report_error(answers.error());
  }

  Result<OutputFile> out = open_output(options.output);
  if (!out) return report_error(out.error());
  const StyledNames names(context.functions, names_of(options));
  Result<void> done =
      write(graph, with_names(context, names), options, recording.format().name, problems, *out);
  if (done) done = out->finish();
  if (!done) return report_error(done.error());
  remark_pruned(graph);
  if (!options.reading.follow) remark_shots_in_part(measured->left_out, calls.first_time());
  remark_waits(by_thread);
  remark_unnamed(names, functions_of(by_thread), options.reading);
  if (by_thread.roots.empty() && !remark_no_match(calls, filter, options.reading.jobs)) {
    remark_nothing_measured(options.measure, calls.measures_with_data(options.reading.jobs));
  } else if (!by_thread.roots.empty()) {
    remark_unmatched_frames(calls, measure_of_option(options.measure), filter,
                            options.reading.jobs);
  }
  return report_problems(options.reading, problems);
}

// One of two recordings to compare. `names` points into the recording or `measured`.
struct ComparedSide {
  std::unique_ptr<const Recording> recording;
  std::unique_ptr<const MeasuredTree> measured;
  RecordingInfo info;
  CallTree tree;  // all threads together
  Clock clock;
  const FunctionNames* names = nullptr;
};

Result<ComparedSide> measure_side(const FlameOptions& options, size_t index, CallFilter filter,
                                  const std::vector<std::string>& own_programs,
                                  ProblemLog& problems) {
  auto recording = open_one(options.reading, index, own_programs);
  if (!recording) return std::unexpected(recording.error());
  settle_window(**recording, options.reading, filter);
  ComparedSide side;
  side.recording = *std::move(recording);
  const TimedCalls& calls = *side.recording->timed_calls();
  problems.merge(side.recording->problems());
  Result<MeasuredTree> measured =
      calls.measured_tree(measure_of_option(options.measure), filter, options.reading.jobs,
                          options.max_stack, problems);
  if (!measured) return std::unexpected(measured.error());
  side.measured = std::make_unique<const MeasuredTree>(*std::move(measured));
  const ExportContext context = measured_context(calls, *side.measured);
  side.tree = side.measured->partial.without_threads().finish(calls.streams());
  side.info = info_of_selection(*side.recording, filter, options.reading.jobs);
  side.clock = context.clock;
  side.names = &context.functions;
  remark_shots_in_part(side.measured->left_out, calls.first_time());
  if (side.tree.roots.empty() && !remark_no_match(calls, filter, options.reading.jobs))
    remark_nothing_measured(options.measure, calls.measures_with_data(options.reading.jobs));
  else if (!side.tree.roots.empty())
    remark_unmatched_frames(calls, measure_of_option(options.measure), filter,
                            options.reading.jobs);
  return side;
}

void add_facts_of(FlameGraph& graph, const FlameOptions& options, const ComparedSide& side,
                  std::string_view which) {
  const size_t first = graph.facts.size();
  add_facts(graph, options.reading, side.info, side.tree);
  for (size_t i = first; i < graph.facts.size(); ++i)
    graph.facts[i].first = fmt::format("{} {}", which, graph.facts[i].first);
}

// Compares two recordings.
int compare(const FlameOptions& options) {
  const Result<CallFilter> filter = options.reading.filter();
  if (!filter) return report_error(filter.error());
  ProblemLog problems;
  const Result<ComparedSide> before =
      measure_side(options, 0, *filter, options.programs_before, problems);
  if (!before) return report_error(before.error());
  const Result<ComparedSide> after =
      measure_side(options, 1, *filter, options.programs_after, problems);
  if (!after) return report_error(after.error());
  FlameComparison comparison =
      compare_flame_trees({before->tree, before->clock, *before->names},
                          {after->tree, after->clock, *after->names}, limits_of(options));
  const std::vector<std::string>& files = options.reading.files;
  FlameGraph graph;
  graph.units = after->measured->units;
  graph.compared = {file_name(files[0]), file_name(files[1])};
  if (graph.compared->before == graph.compared->after) graph.compared = {files[0], files[1]};
  graph.title = graph.compared->before + " and " + graph.compared->after;
  add_facts_of(graph, options, *before, "A");
  add_facts_of(graph, options, *after, "B");
  graph.trees.push_back({"all threads", std::move(comparison.tree)});

  Result<OutputFile> out = open_output(options.output);
  if (!out) return report_error(out.error());
  const StyledNames names(comparison.names, names_of(options));
  const Clock clock;  // times are in nanoseconds
  Result<void> done = write(graph, {clock, Ticks(), {}, names, {}}, options, "", problems, *out);
  if (done) done = out->finish();
  if (!done) return report_error(done.error());
  remark_pruned(graph);
  remark_chosen_functions(*before->recording, *after->recording);
  return report_problems(options.reading, problems);
}

int run(const FlameOptions& options) {
  if (const auto free = check_output(options.output, options.reading); !free)
    return report_error(free.error());
  const bool is_drawing = !options.reading.json && options.output.path.ends_with(kDrawing);
  if (options.reading.files.size() == 2 && !options.together) {
    if (options.reading.follow) {
      return report_error(
          usage_error("--follow shows one recording; use --together to read two files as one")
              .error());
    }
    if (!is_drawing) return compare(options);
    print_message(
        "telltale: the SVG shows both files as one recording; an HTML page compares them\n");
  }
  if (!options.programs_before.empty() || !options.programs_after.empty()) {
    return report_error(
        usage_error("--program-a and --program-b need two recordings to compare").error());
  }
  return answer_recording(options.reading,
                          [&](const Recording& recording, const CallFilter& filter) {
                            return answer(recording, options, filter);
                          });
}

}  // namespace

void add_flame_verb(Command app, int& status) {
  Command verb =
      app.add_verb("flame", "draw a flame graph: an interactive page in one file, or an SVG");
  const auto options = std::make_shared<FlameOptions>();
  add_reading_options(verb, options->reading);
  add_follow_option(verb, options->reading);
  add_names_option(verb, options->reading);
  add_net_option(verb, options->reading);
  verb.option("FILE").description(
      "one recording, or two to compare; more files are read as one recording");
  verb.add_flag("--together", options->together,
                "read two files as one recording instead of comparing them");
  verb.add_option("--program-a", options->programs_before,
                  "program that names the first recording's ids")
      .type_name("BIN")
      .one_value_each();
  verb.add_option("--program-b", options->programs_after,
                  "program that names the second recording's ids")
      .type_name("BIN")
      .one_value_each();
  verb.option("--json").description("write the page's content as JSON, with stable keys");
  add_output_option(verb, options->output,
                    "file to write: a page, an SVG or the page's data; - is standard output")
      .required();
  choose_form_by_name(verb, {{kPageExtensions, ""}, {kDrawing, ""}, {".json", "--json"}});
  add_measure_option(verb, options->measure, {"time"}, "what makes a box wide: time of calls");
  const Option share =
      verb.add_option("--min-percent", options->min_percent,
                      "omit what has less than this share of the time and of the calls; default: "
                      "0.01, or 0 if more than half of the time would be omitted")
          .in_range(0.0, 100.0)
          .type_name("P");
  verb.add_option("--max-nodes", options->max_nodes, "draw at most this many boxes, the widest")
      .in_range(size_t{1}, size_t{2'000'000})
      .show_default()
      .type_name("N");
  verb.add_option("--max-stack", options->max_stack,
                  "distinguish calls by their path up to this depth")
      .in_range(size_t{1}, size_t{1'000'000})
      .show_default()
      .type_name("N");
  verb.callback([options, share, &status] {
    options->has_min_percent = share.count() != 0;
    status = run(*options);
  });
}

}  // namespace telltale::cli
