// `telltale resolve`: joins feedback reports with programs, one line per site.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/options/counts_options.h"
#include "cli/options/output_option.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/format_descriptor.h"
#include "report/sites/resolved_sites.h"

namespace telltale::cli {
namespace {

struct ResolveOptions {
  ReadingOptions reading;
  CountsOptions counts;
  OutputOption output;
};

int answer(const SamplerReports& reports, const CallFilter& filter, const ResolveOptions& options,
           std::string_view format) {
  Result<OutputFile> out = open_output(options.output);
  if (!out) return report_error(out.error());
  const auto sink = [&out](std::string_view block) { return out->write(block); };
  Result<void> done;
  if (options.reading.json) {
    done = write_sites_document(reports, filter, options.counts, format, sink);
  } else if (options.reading.csv) {
    done = convert_reports(reports, filter, options.counts, ExportFormat::csv, sink);
  } else {
    done = write_sites_text(reports, filter, options.counts, sink);
  }
  if (done) done = out->finish();
  if (!done) return report_error(done.error());
  remark_nothing_observed(reports);
  return report_problems(options.reading, reports.problems());
}

int run(const ResolveOptions& options) {
  if (const auto free = check_output(options.output, options.reading); !free)
    return report_error(free.error());
  return answer_recording(
      options.reading, [&](const Recording& recording, const CallFilter& filter) {
        return answer(*recording.counts_at_sites(), filter, options, recording.format().name);
      });
}

}  // namespace

void add_resolve_verb(Command app, int& status) {
  Command verb = app.add_verb(
      "resolve", "join feedback reports with the sites of their programs, one line per site");
  const auto options = std::make_shared<ResolveOptions>();
  add_reading_options(verb, options->reading);
  add_csv_option(verb, options->reading);
  add_counts_options(verb, options->counts);
  add_output_option(verb, options->output).show_default();
  choose_form_by_name(verb, {{".json", "--json"}, {".csv", "--csv"}});
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
