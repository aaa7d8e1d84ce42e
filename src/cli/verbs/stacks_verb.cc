#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/function_match.h"
#include "cli/options/left_out_shots.h"
#include "cli/options/measure_option.h"
#include "cli/options/message.h"
#include "cli/options/net_option.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/timed_calls.h"
#include "output/output_file.h"
#include "output/table/json_document.h"
#include "output/table/table.h"
#include "output/tree/tree_export.h"
#include "report/calls/path_table.h"
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
  const ExportContext recorded = measured_context(calls, *measured);
  const StyledNames names(recorded.functions, options.reading.name_style());
  const ExportContext context = with_names(recorded, names);
  if (options.reading.json || options.reading.csv) {
    const Table table = path_table(tree, context, options.by_thread);
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
    print_message(
        "telltale: {} {} lie below the maximum depth and are counted with their ancestors\n",
        tree.flattened, context.units.counted);
  if (!options.reading.follow) remark_shots_in_part(measured->left_out, calls.first_time());
  if (tree.roots.empty() && !remark_no_match(calls, filter, options.reading.jobs)) {
    remark_nothing_measured(options.measure, calls.measures_with_data(options.reading.jobs));
  } else if (!tree.roots.empty()) {
    remark_unmatched_frames(calls, measure_of_option(options.measure), filter,
                            options.reading.jobs);
  }
  remark_unnamed(names, functions_of(tree), options.reading);
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
      app.add_verb("stacks", "print folded stacks: the cost of each call path, one line per path");
  const auto options = std::make_shared<StacksOptions>();
  add_reading_options(verb, options->reading);
  options->reading.text_has_places = false;
  add_follow_option(verb, options->reading);
  add_csv_option(verb, options->reading);
  add_names_option(verb, options->reading);
  add_net_option(verb, options->reading);
  add_measure_option(verb, options->measure, {"self", "total", "calls"},
                     "the number of each line: self time or total time in nanoseconds, or calls");
  verb.add_flag("--by-thread", options->by_thread,
                "separate threads; the thread is the first frame");
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
