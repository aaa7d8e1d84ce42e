#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/answers.h"
#include "cli/reading_options.h"
#include "cli/verbs.h"
#include "output/escape.h"
#include "output/output_file.h"
#include "output/table.h"
#include "output/tree_export.h"

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

// A row a path; `stack` is written as in folded stacks.
Table make_table(const CallTree& tree, const ExportContext& context, bool by_thread) {
  using Show = Table::Show;
  std::vector<Table::Column> columns;
  if (by_thread) columns = {{"pid", "PID"}, {"tid", "TID"}};
  columns.insert(columns.end(), {{"depth", "DEPTH"},
                                 {"calls", "CALLS"},
                                 {"total_ns", "TOTAL", Show::duration},
                                 {"self_ns", "SELF", Show::duration},
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
    table.add_row(std::move(cells));
  }
  return table;
}

template <EventSource Source>
int answer(const Source& source, const StacksOptions& options, const CallFilter& filter) {
  ProblemLog problems = source.problems();
  const Result<CallTree> tree = build_call_tree(source, filter, options.reading.jobs,
                                                {.by_thread = options.by_thread}, problems);
  if (!tree) return report_error(tree.error());
  const ExportContext context = export_context(source);
  if (options.reading.json || options.reading.csv) {
    const Table table = make_table(*tree, context, options.by_thread);
    print(options.reading.json ? table.to_json() : table.to_csv());
  } else {
    Result<OutputFile> out = OutputFile::open("-");
    if (!out) return report_error(out.error());
    Result<void> done =
        write_folded(*tree, context, *out, measure_of(options.measure), options.by_thread);
    if (done) done = out->finish();
    if (!done) return report_error(done.error());
  }
  if (tree->flattened != 0)
    fmt::print(stderr, "telltale: {} calls are too deep to be told apart by path\n",
               tree->flattened);
  return report_problems(options.reading, problems);
}

int run(const StacksOptions& options) {
  return answer_recording(options.reading, [&](const auto& source, const CallFilter& filter) {
    return answer(source, options, filter);
  });
}

}  // namespace

void add_stacks_verb(CLI::App& app, int& status) {
  CLI::App* verb =
      app.add_subcommand("stacks", "folded stacks: what each path of calls took, a line a path");
  const auto options = std::make_shared<StacksOptions>();
  add_reading_options(*verb, options->reading);
  add_csv_option(*verb, options->reading);
  verb->add_option("--measure", options->measure,
                   "the number of a line: nanoseconds of self or total time, or calls")
      ->check(CLI::IsMember({"self", "total", "calls"}))
      ->capture_default_str();
  verb->add_flag("--by-thread", options->by_thread, "threads apart; the thread is the first frame");
  verb->callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
