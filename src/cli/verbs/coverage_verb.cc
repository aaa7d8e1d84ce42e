// `telltale coverage`: which lines of a program had run when its core was dumped.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/changed_sources.h"
#include "cli/options/message.h"
#include "cli/options/missing_programs.h"
#include "cli/options/output_option.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "import/stack_paths.h"
#include "report/paths/coverage_page.h"
#include "report/paths/coverage_report.h"

namespace telltale::cli {
namespace {

struct CoverageOptions {
  ReadingOptions reading;
  std::string format = "text";
  OutputOption output;
  bool lines = false;
  bool html = false;
};

Result<void> write(const std::vector<FunctionCoverage>& functions, const CoverageOptions& options,
                   std::string_view recording, const ProblemLog& problems, SourceLines& sources,
                   const ByteSink& sink) {
  if (options.reading.json || options.format == "json")
    return write_coverage_document(functions, recording, problems, sink);
  if (options.reading.csv || options.format == "csv") return write_coverage_csv(functions, sink);
  if (options.format == "lcov") return write_coverage_lcov(functions, sink);
  if (options.format == "cobertura") return write_coverage_cobertura(functions, sink);
  return write_coverage_text(functions, options.lines, sources, sink);
}

int answer(const Recording& recording, const CallFilter& filter, const CoverageOptions& options) {
  ProblemLog problems;
  problems.merge(recording.problems());
  Result<std::vector<FunctionCoverage>> all = recording.paths_in_frames()->coverage(problems);
  if (!all) return report_error(all.error());
  if (all->empty() && !tell_missing_programs(problems)) {
    print_message(
        "telltale: no program of this core file was built with path tracing or coverage "
        "(telltale-cc --trace=cc_pt.schema), or it was stripped (--program takes its separate "
        "debug file)\n");
  }
  const std::vector<FunctionCoverage> chosen = choose_coverage(*std::move(all), filter);
  const bool names_lines = options.lines || options.format != "text" || options.html ||
                           options.reading.json || options.reading.csv;
  SourceLines sources(names_lines ? recording.paths_in_frames()->built_sources(problems)
                                  : BuiltSources());
  // Readers of documents show the lines, too.
  if (names_lines) ask_for_sources(chosen, sources);
  tell_changed_sources(sources.changed());
  if (options.reading.json || options.format == "json")
    add_changed_sources(sources.changed(), problems);
  Result<OutputFile> out = open_output(options.output);
  if (!out) return report_error(out.error());
  Result<void> done =
      options.html || options.format == "html"
          ? write_coverage_page(chosen, recording.input(0).name(), problems, sources, *out)
          : write(chosen, options, recording.format().name, problems, sources,
                  [&out](std::string_view block) { return out->write(block); });
  if (done) done = out->finish();
  if (!done) return report_error(done.error());
  return report_problems(options.reading, problems);
}

int run(const CoverageOptions& options) {
  if (const auto free = check_output(options.output, options.reading); !free)
    return report_error(free.error());
  return answer_recording(options.reading,
                          [&](const Recording& recording, const CallFilter& filter) {
                            return answer(recording, filter, options);
                          });
}

}  // namespace

void add_coverage_verb(Command app, int& status) {
  Command verb =
      app.add_verb("coverage", "show which lines of a program had run when its core was dumped");
  const auto options = std::make_shared<CoverageOptions>();
  add_reading_options(verb, options->reading);
  add_csv_option(verb, options->reading);
  verb.add_option("--to", options->format, "text, csv, json, lcov, cobertura, or a page (html)")
      .one_of({"text", "csv", "json", "lcov", "cobertura", "html"})
      .show_default();
  verb.add_flag("--html", options->html, "write a page: the same as --to html")
      .excludes("--json")
      .excludes("--csv");
  verb.add_flag("--lines", options->lines, "also list the lines, beside their source text");
  add_output_option(verb, options->output).show_default();
  choose_form_by_name(verb, {{kPageExtensions, "--html"},
                             {".json", "--json"},
                             {".csv", "--csv"},
                             {kLcovExtensions, "--to", "lcov"},
                             {".xml", "--to", "cobertura"}});
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
