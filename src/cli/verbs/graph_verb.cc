#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

#include "analysis/calls/call_graph.h"
#include "cli/options/function_match.h"
#include "cli/options/measure_option.h"
#include "cli/options/message.h"
#include "cli/options/net_option.h"
#include "cli/options/output_option.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/timed_calls.h"
#include "output/json_writer.h"
#include "output/table/object_writer.h"
#include "output/table/table.h"
#include "output/tree/tree_export.h"
#include "report/calls/graph_tables.h"
#include "report/schemas/schemas.h"

namespace telltale::cli {
namespace {

struct GraphOptions {
  ReadingOptions reading;
  OutputOption output;
  double min_percent = 0;
  bool has_min_percent = false;
};

Result<void> write(const CallTree& tree, const ExportContext& context, const GraphOptions& options,
                   std::string_view format, const ProblemLog& problems, OutputFile& out) {
  if (!options.reading.json && !options.reading.csv) {
    return write_dot(tree, context, out,
                     options.has_min_percent ? options.min_percent / 100 : kDrawnShare);
  }
  const double min_share = options.min_percent / 100;
  CallGraph graph = make_call_graph(tree);
  const PrunedGraph pruned = prune_call_graph(graph, min_share);
  if (options.reading.csv) return out.write(graph_edge_table(graph, context).to_csv());
  std::string text;
  JsonWriter json(text, 2);
  DocumentWriter document(json, schemas::kGraph, format);
  document.table("functions", graph_function_table(graph, context));
  document.table("edges", graph_edge_table(graph, context));
  document.add("total_ns", context.clock.to_ns(graph.total));
  document.add("pruned_functions", pruned.functions).add("pruned_edges", pruned.edges);
  document.finish(problems);
  return out.write(text);
}

int answer(const Recording& recording, const GraphOptions& options, const CallFilter& filter) {
  const TimedCalls& calls = *recording.timed_calls();
  ProblemLog problems = recording.problems();
  const Result<CallTreePartial> partial =
      calls.call_tree(filter, options.reading.jobs, {}, problems);
  if (!partial) return report_error(partial.error());
  const CallTree tree = partial->finish(calls.streams());
  Result<OutputFile> out = open_output(options.output);
  if (!out) return report_error(out.error());
  const StyledNames names(calls.functions(), options.reading.name_style());
  Result<void> done = write(tree, with_names(export_context(calls), names), options,
                            recording.format().name, problems, *out);
  if (done) done = out->finish();
  if (!done) return report_error(done.error());
  remark_unnamed(names, functions_of(tree), options.reading);
  if (tree.roots.empty() && !remark_no_match(calls, filter, options.reading.jobs))
    remark_nothing_measured("time", calls.measures_with_data(options.reading.jobs));
  if (tree.flattened != 0)
    print_message("telltale: the callers of {} very deep calls are approximate\n", tree.flattened);
  return report_problems(options.reading, problems);
}

int run(const GraphOptions& options) {
  if (const auto free = check_output(options.output, options.reading); !free)
    return report_error(free.error());
  return answer_recording(options.reading,
                          [&](const Recording& recording, const CallFilter& filter) {
                            return answer(recording, options, filter);
                          });
}

}  // namespace

void add_graph_verb(Command app, int& status) {
  Command verb =
      app.add_verb("graph", "draw who calls whom as a DOT graph (--json, --csv: the edges)");
  const auto options = std::make_shared<GraphOptions>();
  add_reading_options(verb, options->reading);
  add_follow_option(verb, options->reading);
  add_csv_option(verb, options->reading);
  add_names_option(verb, options->reading);
  add_net_option(verb, options->reading);
  add_output_option(verb, options->output).show_default();
  choose_form_by_name(verb, {{kDotExtensions, ""}, {".json", "--json"}, {".csv", "--csv"}});
  const Option share = verb.add_option("--min-percent", options->min_percent,
                                       "omit what has less than this share of the time and of the "
                                       "calls; default: 0.5, with --json and --csv 0")
                           .in_range(0.0, 100.0)
                           .type_name("P");
  verb.callback([options, share, &status] {
    options->has_min_percent = share.count() != 0;
    status = run(*options);
  });
}

}  // namespace telltale::cli
