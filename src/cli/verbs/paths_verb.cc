// `telltale paths`: what the functions on the stacks of a core file executed.
#include <memory>
#include <string>
#include <vector>

#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/stack_paths.h"
#include "report/paths/path_report.h"

namespace telltale::cli {
namespace {

int answer(const Recording& recording, const CallFilter& filter, const ReadingOptions& options) {
  const StackPaths& stacks = *recording.paths_in_frames();
  ProblemLog problems;
  problems.merge(recording.problems());
  Result<std::vector<ThreadPaths>> threads = stacks.thread_paths(problems);
  if (!threads) return report_error(threads.error());
  const std::vector<ThreadPaths> chosen = choose_paths(*std::move(threads), filter);
  const bool printed = print(
      options.json ? paths_document(chosen, stacks.why_stopped(), recording.format().name, problems)
                   : paths_text(chosen, stacks.why_stopped()));
  if (!printed) return kUnreadable;
  return report_problems(options, problems);
}

int run(const ReadingOptions& options) {
  return answer_recording(options, [&](const Recording& recording, const CallFilter& filter) {
    return answer(recording, filter, options);
  });
}

}  // namespace

void add_paths_verb(Command app, int& status) {
  Command verb =
      app.add_verb("paths", "show which lines the functions on the stack of a core file executed");
  const auto options = std::make_shared<ReadingOptions>();
  add_reading_options(verb, *options);
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
