#include <fmt/format.h>

#include <cctype>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/left_out_shots.h"
#include "cli/options/measure_option.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/timed_calls.h"
#include "output/escape.h"
#include "output/output_file.h"
#include "output/table.h"
#include "output/table/json_document.h"
#include "output/tree_export.h"
#include "report/schemas/schemas.h"

namespace telltale::cli {
namespace {

struct StacksOptions {
  ReadingOptions reading;
  std::string measure = "self";
  bool by_thread = false;
};

StackMeasure measure_of(const std::string& name) {
  if (name == "calls") return StackMeasure::calls;
  return name == "total" ? StackMeasure::total : StackMeasure::self;
}

std::string upper(std::string text) {
  for (char& c : text)
    c = c == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// A row a path; `stack` is written as in folded stacks.
Table make_table(const CallTree& tree, const ExportContext& context, bool by_thread) {
  const TreeUnits& units = context.units;
  const std::string counted(units.counted);
  const Show show = units.is_time() ? Show::duration : Show::plain;
  std::vector<Table::Column> columns;
  if (by_thread) columns = {{"pid", "PID"}, {"tid", "TID"}};
  columns.insert(columns.end(), {{"depth", "DEPTH"},
                                 {counted, upper(counted)},
                                 {fmt::format("total_{}", units.suffix), "TOTAL", show},
                                 {fmt::format("self_{}", units.suffix), "SELF", show},
                                 {"stack", "STACK", Show::text}});
  Table table(std::move(columns));
  std::string path;
  std::vector<size_t> ends;  // of the path's text, by depth
  size_t root = 0;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const CallTree::Node& node = tree.nodes[i];
    if (node.depth == 0) {
      if (i != 0) ++root;
      ends.assign(1, 0);
      continue;
    }
    ends.resize(node.depth);
    path.resize(ends.back());
    if (!path.empty()) path += ';';
    append_folded(path, context.functions.describe(node.function).name);
    ends.push_back(path.size());
    std::vector<Table::Cell> cells;
    const ThreadKey& thread = tree.roots[root].thread;
    if (by_thread) cells.insert(cells.end(), {thread.pid, thread.tid});
    cells.insert(cells.end(), {uint64_t{node.depth}, node.calls, context.clock.to_ns(node.total),
                               context.clock.to_ns(node.self), path});
    table.add_row(cells);
  }
  return table;
}

int answer(const Recording& recording, const StacksOptions& options, const CallFilter& filter) {
  const TimedCalls& calls = *recording.timed_calls();
  ProblemLog problems = recording.problems();
  const Result<MeasuredTree> measured =
      calls.measured_tree(measure_of_option(options.measure), filter, options.reading.jobs,
                          CallTreeOptions().max_depth, problems);
  if (!measured) return report_error(measured.error());
  const CallTree tree =
      (options.by_thread ? measured->partial : measured->partial.without_threads())
          .finish(calls.streams());
  const ExportContext context = measured_context(calls, *measured);
  if (options.reading.json || options.reading.csv) {
    const Table table = make_table(tree, context, options.by_thread);
    print(options.reading.json
              ? rows_document(schemas::kStacks, recording.format().name, table, problems)
              : table.to_csv());
  } else {
    Result<OutputFile> out = OutputFile::open("-");
    if (!out) return report_error(out.error());
    Result<void> done =
        write_folded(tree, context, *out, measure_of(options.measure), options.by_thread);
    if (done) done = out->finish();
    if (!done) return report_error(done.error());
  }
  if (tree.flattened != 0)
    fmt::print(stderr, "telltale: {} {} are too deep to be told apart by path\n", tree.flattened,
               context.units.counted);
  if (!options.reading.follow) remark_unfinished(measured->left_out, calls.first_time());
  if (tree.roots.empty()) {
    remark_nothing_measured(options.measure, calls.measures_with_data(options.reading.jobs));
  }
  return report_problems(options.reading, problems);
}

int run(const StacksOptions& options) {
  return answer_recording(options.reading,
                          [&](const Recording& recording, const CallFilter& filter) {
                            return answer(recording, options, filter);
                          });
}

}  // namespace

void add_stacks_verb(Command app, int& status) {
  Command verb =
      app.add_verb("stacks", "folded stacks: what each path of calls took, a line a path");
  const auto options = std::make_shared<StacksOptions>();
  add_reading_options(verb, options->reading);
  add_follow_option(verb, options->reading);
  add_csv_option(verb, options->reading);
  add_measure_option(verb, options->measure, {"self", "total", "calls"},
                     "the number of a line: nanoseconds of self or total time, calls");
  verb.add_flag("--by-thread", options->by_thread, "threads apart; the thread is the first frame");
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
