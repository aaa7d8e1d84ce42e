#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/calls/call_tree.h"
#include "bytes/input_file.h"
#include "cli/options/counts_options.h"
#include "cli/options/function_match.h"
#include "cli/options/left_out_shots.h"
#include "cli/options/measure_option.h"
#include "cli/options/message.h"
#include "cli/options/output_option.h"
#include "cli/options/progress_line.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "import/formats.h"
#include "import/open_recording.h"
#include "import/timed_calls.h"
#include "output/escape.h"
#include "output/export.h"
#include "output/json_writer.h"
#include "output/table/object_writer.h"
#include "output/table/show_units.h"
#include "output/timeline/speedscope_events.h"
#include "report/schemas/schemas.h"
#include "report/sites/resolved_sites.h"

namespace telltale::cli {
namespace {

struct ConvertOptions {
  ReadingOptions reading;
  OutputOption output;
  std::string to;
  std::string output_description;
  bool compress = false;
  bool evented = false;
  std::string measure;
  CountsOptions counts;
};

// What was written, and what the target could not represent.
struct Outcome {
  RecordLosses losses;
  ProblemLog problems;  // of the input
};

std::string to_json(const ConvertOptions& options, const OutputFormat& format,
                    const Outcome& outcome) {
  std::string out;
  JsonWriter json(out, 2);
  DocumentWriter document(json, schemas::kConvert, {});
  document.add("output", options.output.path).add("format", format.name.name);
  document.list("losses", [&](ListWriter& losses) {
    for (const auto& loss : outcome.losses)
      losses.row([&](ObjectWriter& row) { row.add("count", loss.second).add("what", loss.first); });
  });
  document.add("damaged_places", outcome.problems.damage_count());
  document.add("lost_bytes", outcome.problems.lost_bytes());
  document.finish(outcome.problems);
  return out;
}

int report_outcome(const ConvertOptions& options, const OutputFormat& format,
                   const Outcome& outcome) {
  if (options.reading.json) {
    print(to_json(options, format, outcome));
  } else {
    for (const auto& [loss, count] : outcome.losses)
      print_message("telltale: {}: {}\n", count, loss);
  }
  const int status = report_problems(options.reading, outcome.problems);
  return status == kDone && options.reading.strict && !outcome.losses.empty() ? kDamaged : status;
}

// Exports the counts at sites, of all files together.
int run_counts(const ConvertOptions& options, const OutputFormat& format, const CallFilter& filter,
               const Recording& recording) {
  if (measure_of_option(options.measure) != Measure::time || options.compress)
    return report_error(
        usage_error("--measure and --compress are for recordings of calls").error());
  const SamplerReports& reports = *recording.counts_at_sites();
  Result<OutputFile> out = open_output(options.output);
  if (!out) return report_error(out.error());
  const Result<void> done =
      convert_reports(reports, filter, options.counts, *format.made_as,
                      [&out](std::string_view block) { return out->write(block); });
  if (!done) return report_error(done.error());
  if (const Result<void> finished = out->finish(); !finished) return report_error(finished.error());
  remark_nothing_observed(reports);
  return report_outcome(options, format, {.losses = {}, .problems = reports.problems()});
}

// speedscope's calls in order of time.
Result<void> write_evented(const TimedCalls& calls, const ConvertOptions& options,
                           const CallFilter& filter, const std::vector<FunctionId>& functions,
                           OutputFile& out, ProblemLog& problems) {
  const StyledNames names(calls.functions(), options.reading.name_style());
  const ExportContext context = with_names(export_context(calls), names);
  const SpeedscopeFrames frames(functions);
  SpeedscopeEvents events(context, frames, out);
  return run_export(calls, filter, options.reading.jobs, events, problems);
}

bool has_a_line_for_each_call(ExportFormat format) {
  return format == ExportFormat::json || format == ExportFormat::csv;
}

// On standard error, before the work: how large a text with a line for each call is going to be.
void remark_size(const TimedCalls& calls, const ConvertOptions& options, ExportFormat format,
                 const Profile& profile) {
  // What a call takes beside its name, measured with process and thread numbers of seven digits.
  double fixed = 0;
  double names_written = 1;
  switch (format) {
    case ExportFormat::chrome:
      fixed = 140;
      names_written = 2;
      break;
    case ExportFormat::json:
      fixed = 165;
      break;
    case ExportFormat::csv:
      fixed = 50;
      break;
    default:
      return;
  }
  const NameStyle style =
      options.reading.names.empty() ? usual_names(format) : options.reading.name_style();
  double bytes = 0;
  for (const FunctionProfile& row : profile.functions) {
    const auto count = static_cast<double>(row.calls + row.unfinished);
    const std::string name = styled_name(calls.functions().describe(row.function), style);
    bytes += count * (fixed + names_written * static_cast<double>(name.size()));
  }
  constexpr double kWorthSaying = 64e6;
  if (bytes < kWorthSaying) return;
  print_message("telltale: {} is going to have about {}{}\n",
                options.output.path == "-" ? "standard output" : visible(options.output.path),
                show_bytes(bytes),
                format == ExportFormat::chrome ? "; --to perfetto is many times smaller" : "");
}

int run_calls(const ConvertOptions& options, const OutputFormat& format, CallFilter filter,
              const Recording& recording) {
  settle_window(recording, options.reading, filter);
  if (options.counts.any()) return report_error(counts_only().error());
  if (options.compress && *format.made_as != ExportFormat::perfetto)
    return report_error(usage_error("--compress is for perfetto").error());
  const TimedCalls& calls = *recording.timed_calls();
  Result<OutputFile> out = open_output(options.output);
  if (!out) return report_error(out.error());
  Outcome outcome{.losses = {}, .problems = recording.problems()};
  const ProgressLine progress(recording);
  ProblemLog same_again;
  const Profile profile = calls.profile({filter, options.reading.jobs, false}, same_again);
  std::vector<FunctionId> functions;
  for (const FunctionProfile& row : profile.functions) functions.push_back(row.function);
  if (options.evented) {
    if (*format.made_as != ExportFormat::speedscope ||
        measure_of_option(options.measure) != Measure::time)
      return report_error(usage_error("--evented is for speedscope, with times of calls").error());
    Result<void> written = write_evented(calls, options, filter, functions, *out, outcome.problems);
    if (written) written = out->finish();
    remark_unnamed(calls.functions(), functions, options.reading);
    return written ? report_outcome(options, format, outcome) : report_error(written.error());
  }
  remark_size(calls, options, *format.made_as, profile);
  const Result<ExportRemarks> remarks =
      calls.export_calls({.filter = filter,
                          .jobs = options.reading.jobs,
                          .measure = measure_of_option(options.measure),
                          .names = options.reading.names.empty() ? usual_names(*format.made_as)
                                                                 : options.reading.name_style(),
                          .compress = options.compress},
                         *format.made_as, *out, outcome.problems);
  if (!remarks) return report_error(remarks.error());
  if (remarks->flattened != 0) {
    outcome.losses.emplace_back(
        fmt::format("calls deeper than {}; their nesting is omitted", CallTreeOptions().max_depth),
        remarks->flattened);
  }
  remark_shots_in_part(remarks->left_out, calls.first_time());
  if (remarks->nothing) {
    const std::vector<Measure> has = calls.measures_with_data(options.reading.jobs);
    const Result<void> answers = check_measured(options.measure, has);
    if (!answers) return report_error(answers.error());
    if (!remark_no_match(calls, filter, options.reading.jobs))
      remark_nothing_measured(options.measure, has);
  } else if (functions.empty() && has_a_line_for_each_call(*format.made_as) &&
             !remark_no_match(calls, filter, options.reading.jobs)) {
    print_message("telltale: the {} export has no calls, because what is converted has none\n",
                  format.name.name);
  }
  if (!remarks->nothing)
    remark_unmatched_frames(calls, measure_of_option(options.measure), filter,
                            options.reading.jobs);
  remark_unmatched(calls, filter, options.reading.jobs);
  if (!remarks->estimated.empty()) print_message("telltale: {}\n", remarks->estimated);
  remark_unnamed(calls.functions(), functions, options.reading);
  if (const Result<void> done = out->finish(); !done) return report_error(done.error());
  return report_outcome(options, format, outcome);
}

// Exports a recording to a format of another kind.
int run_export(const ConvertOptions& options, const OutputFormat& format, const CallFilter& filter,
               std::vector<InputFile> inputs) {
  const auto recording = open_recording(std::move(inputs), options.reading.open_options());
  if (!recording) return report_error(recording.error());
  const Recording& opened = **recording;
  if (const Result<void> usable = check_options(options.reading, filter, opened); !usable)
    return report_error(usable.error());
  if (opened.timed_calls() != nullptr && is_made_from_calls(*format.made_as))
    return run_calls(options, format, filter, opened);
  if (opened.counts_at_sites() != nullptr && is_made_from_counts(*format.made_as))
    return run_counts(options, format, filter, opened);
  std::vector<std::string> needs;
  for (const auto& [made, capability] :
       {std::pair(is_made_from_calls(*format.made_as), Capability::timed_calls),
        std::pair(is_made_from_counts(*format.made_as), Capability::counts_at_sites)}) {
    if (made) needs.emplace_back(name_of(capability));
  }
  return report_error(usage_error(fmt::format("{} is made from {}, but {} has {}", format.name.name,
                                              join_words(needs, "or"), opened.noun(),
                                              opened.describe_capabilities()))
                          .error());
}

// Whole recordings, record by record: no filter, one input unless the target takes several.
int run_records(const ConvertOptions& options, const OutputFormat& format, const CallFilter& filter,
                const std::vector<InputFile>& inputs) {
  const OpenOptions open = options.reading.open_options();
  const Result<const FormatDescriptor*> own = find_format(inputs.front(), open);
  if (!own) return report_error(own.error());
  const ConvertTarget* target = find_target(**own, format.name.name);
  if (target == nullptr) {
    std::vector<std::string> names;
    for (const ConvertTarget& one : (*own)->targets) names.emplace_back(one.output.name);
    std::string message = fmt::format("{} cannot be written as {}", (*own)->noun, format.name.name);
    if (!names.empty()) message += "; its recording formats are " + join_words(names);
    return report_error(usage_error(message).error());
  }
  if (measure_of_option(options.measure) != Measure::time || !filter.keeps_everything() ||
      options.counts.any() || (inputs.size() != 1 && !target->takes_several)) {
    return report_error(usage_error("a recording format takes one complete recording: no filters, "
                                    "no measure, no second file")
                            .error());
  }
  Result<OutputFile> out = open_output(options.output);
  if (!out) return report_error(out.error());
  Outcome outcome;
  Result<RecordLosses> losses = (*own)->convert(
      inputs, open, {format.name.name, options.output_description},
      [&out](std::string_view block) { return out->write(block); }, outcome.problems);
  if (!losses) return report_error(losses.error());
  if (const Result<void> finished = out->finish(); !finished) return report_error(finished.error());
  outcome.losses = *std::move(losses);
  return report_outcome(options, format, outcome);
}

int run(const ConvertOptions& options) {
  const std::optional<OutputFormat> format = output_format_of_name(options.to);
  if (options.reading.json && options.output.path == "-") {
    return report_error(
        usage_error("--json describes the conversion on standard output, so -o cannot be -")
            .error());
  }
  if (!format) {
    return report_error(usage_error("cannot derive the format from the file name " +
                                    options.output.path + "; use --to FORMAT")
                            .error());
  }
  if (const auto free = check_output(options.output, options.reading); !free)
    return report_error(free.error());
  Result<std::vector<InputFile>> inputs = open_inputs(options.reading);
  if (!inputs) return report_error(inputs.error());
  const Result<CallFilter> filter = options.reading.filter();
  if (!filter) return report_error(filter.error());
  return format->is_export() ? run_export(options, *format, *filter, *std::move(inputs))
                             : run_records(options, *format, *filter, *inputs);
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const OutputFormat& format : output_formats()) names.emplace_back(format.name.name);
  return names;
}

// Of those that are chosen by name.
std::vector<OutputForm> forms() {
  std::vector<OutputForm> forms;
  for (const OutputFormat& format : output_formats()) {
    if (!format.name.extensions.empty())
      forms.push_back({format.name.extensions, "--to", std::string(format.name.name)});
  }
  return forms;
}

// One line per format: name, description, extensions.
std::string describe_formats() {
  std::string text = "Formats:\n";
  for (const OutputFormat& format : output_formats()) {
    text += fmt::format("  {:18} {}", format.name.name, format.name.text);
    if (!format.name.extensions.empty()) text += fmt::format(" ({})", format.name.extensions);
    text += '\n';
  }
  return text;
}

}  // namespace

void add_convert_verb(Command app, int& status) {
  Command verb = app.add_verb("convert", "write a recording in another format");
  const auto options = std::make_shared<ConvertOptions>();
  add_reading_options(verb, options->reading);
  add_names_option(verb, options->reading);
  verb.option("--names").description(
      "names of functions; default: short, but full in pprof, folded and callgrind");
  verb.option("--json").description("describe as JSON what was written and what was lost");
  add_output_option(verb, options->output).required();
  verb.add_option("--to", options->to, "format; default: by the output's extension")
      .type_name("FORMAT")
      .one_of(format_names());
  choose_form_by_name(verb, forms());
  verb.option("--output").description("file to write; - is standard output");  // see the footer
  verb.add_option("--output-description", options->output_description,
                  "stacktrack: output of expand_events --show_format on the target platform")
      .type_name("FILE");
  add_measure_option(
      verb, options->measure, {"time"},
      "what the exports by path (speedscope, pprof, folded, callgrind, dot) measure: "
      "time of calls");
  add_counts_options(verb, options->counts);
  verb.add_flag("--evented", options->evented,
                "speedscope: every call, in order of time, instead of sums by path");
  verb.add_flag("--compress", options->compress, "perfetto: compress packets inside the trace");
  verb.footer(describe_formats());
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
