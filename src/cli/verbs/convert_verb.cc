#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/call_tree.h"
#include "api/export_calls.h"
#include "bytes/input_file.h"
#include "cli/format_tools.h"
#include "cli/left_out_shots.h"
#include "cli/options/measure_option.h"
#include "cli/options/reading_options.h"
#include "cli/sampler_answers.h"
#include "cli/verbs/verbs.h"
#include "output/export_format.h"
#include "output/json_writer.h"
#include "output/output_file.h"

namespace telltale::cli {
namespace {

struct ConvertOptions {
  ReadingOptions reading;
  std::string output;
  std::string to;
  std::string output_description;
  bool compress = false;
  std::string measure;
  CountsOptions counts;
};

// What was written, and what did not fit into it.
struct Outcome {
  RecordLosses losses;
  ProblemLog problems;  // of the input
};

std::string to_json(const ConvertOptions& options, ExportFormat format, const Outcome& outcome) {
  std::string out;
  JsonWriter json(out, 2);
  json.begin_object().member("output", options.output);
  json.member("format", export_format_name(format));
  json.key("losses").begin_array();
  for (const auto& [loss, count] : outcome.losses)
    json.begin_object().member("count", count).member("what", loss).end_object();
  json.end_array();
  json.member("damaged_places", outcome.problems.damage_count())
      .member("lost_bytes", outcome.problems.lost_bytes());
  json.end_object();
  return out + "\n";
}

int report_outcome(const ConvertOptions& options, ExportFormat format, const Outcome& outcome) {
  if (options.reading.json) {
    print(to_json(options, format, outcome));
  } else {
    for (const auto& [loss, count] : outcome.losses)
      fmt::print(stderr, "telltale: {}: {}\n", count, loss);
  }
  return report_problems(options.reading, outcome.problems);
}

// Feedback reports: joined, and merged if there are several.
int run_counts(const ConvertOptions& options, ExportFormat format, std::vector<InputFile> inputs) {
  const Result<CallFilter> filter = options.reading.filter();
  if (!filter) return report_error(filter.error());
  if (measure_of_option(options.measure) != Measure::time || options.compress)
    return report_error(
        usage_error("--measure and --compress are for recordings of calls").error());
  const Result<SamplerReports> reports = open_counts(std::move(inputs), options.reading, *filter);
  if (!reports) return report_error(reports.error());
  Result<OutputFile> out = OutputFile::open(options.output);
  if (!out) return report_error(out.error());
  const Result<void> done =
      convert_reports(*reports, *filter, options.counts, format,
                      [&out](std::string_view block) { return out->write(block); });
  if (!done) return report_error(done.error());
  if (const Result<void> finished = out->finish(); !finished) return report_error(finished.error());
  remark_nothing_observed(*reports);
  return report_outcome(options, format, {.losses = {}, .problems = reports->problems()});
}

int run_calls(const ConvertOptions& options, ExportFormat format, std::vector<InputFile> inputs) {
  const Result<CallFilter> filter = options.reading.filter();
  if (!filter) return report_error(filter.error());
  if (is_counts_format(format)) {
    return report_error(
        usage_error(fmt::format("{} is written of feedback reports", export_format_name(format)))
            .error());
  }
  const Result<AnyRecording> recording =
      open_recording(std::move(inputs), options.reading.open_options());
  if (!recording) return report_error(recording.error());
  Result<OutputFile> out = OutputFile::open(options.output);
  if (!out) return report_error(out.error());
  Outcome outcome;
  const Result<ExportRemarks> remarks = export_calls(*recording,
                                                     {.filter = *filter,
                                                      .jobs = options.reading.jobs,
                                                      .measure = measure_of_option(options.measure),
                                                      .compress = options.compress},
                                                     format, *out, outcome.problems);
  if (!remarks) return report_error(remarks.error());
  if (remarks->flattened != 0) {
    outcome.losses.emplace_back(
        fmt::format("calls deeper than {}; their nesting is left out", CallTreeOptions().max_depth),
        remarks->flattened);
  }
  remark_unfinished(remarks->left_out,
                    std::visit([](const auto& source) { return source.first_time(); }, *recording));
  if (remarks->nothing) {
    std::visit(
        [&](const auto& source) {
          remark_nothing_measured(options.measure, source, options.reading.jobs);
        },
        *recording);
  }
  if (!remarks->estimated.empty()) fmt::print(stderr, "telltale: {}\n", remarks->estimated);
  if (const Result<void> done = out->finish(); !done) return report_error(done.error());
  return report_outcome(options, format, outcome);
}

// Whole recordings, record by record: no filter, one input.
int run_records(const ConvertOptions& options, ExportFormat format, std::vector<InputFile> inputs) {
  const Result<CallFilter> filter = options.reading.filter();
  if (!filter) return report_error(filter.error());
  if (measure_of_option(options.measure) != Measure::time || !filter->threads.empty() ||
      !filter->keeps_every_call() || options.reading.files.size() != 1) {
    return report_error(
        usage_error(
            "recording formats take one recording, whole: no filters, no measure, no second file")
            .error());
  }
  const OpenOptions open = options.reading.open_options();
  const InputFile* input = inputs.data();
  const Result<const FormatTools*> tools = find_format_tools(*input, open);
  if (!tools) return report_error(tools.error());
  Result<OutputFile> out = OutputFile::open(options.output);
  if (!out) return report_error(out.error());
  Outcome outcome{.losses = {}, .problems = input->problems()};
  Result<RecordLosses> losses = (*tools)->convert(
      *input, open, {format, options.output_description},
      [&out](std::string_view block) { return out->write(block); }, outcome.problems);
  if (!losses) return report_error(losses.error());
  if (const Result<void> finished = out->finish(); !finished) return report_error(finished.error());
  outcome.losses = *std::move(losses);
  return report_outcome(options, format, outcome);
}

int run(const ConvertOptions& options) {
  const std::optional<ExportFormat> format = options.to.empty()
                                                 ? export_format_of_path(options.output)
                                                 : export_format_of_name(options.to);
  if (options.reading.json && options.output == "-") {
    return report_error(
        usage_error("--json says on standard output what was written: -o cannot be - as well")
            .error());
  }
  if (!format) {
    return report_error(
        usage_error("cannot tell the format from the name " + options.output + "; say --to FORMAT")
            .error());
  }
  const OpenOptions open = options.reading.open_options();
  Result<std::vector<InputFile>> inputs = open_inputs(options.reading);
  if (!inputs) return report_error(inputs.error());
  if (open.format_description.empty() && holds_counts(inputs->front().bytes()))
    return run_counts(options, *format, *std::move(inputs));
  if (options.counts.any()) return report_error(counts_only().error());
  return is_recording_format(*format) ? run_records(options, *format, *std::move(inputs))
                                      : run_calls(options, *format, *std::move(inputs));
}

}  // namespace

void add_convert_verb(Command app, int& status) {
  Command verb = app.add_verb("convert", "write a recording in another format");
  const auto options = std::make_shared<ConvertOptions>();
  add_reading_options(verb, options->reading);
  verb.option("--json").description("say as JSON what was written and what was lost");
  verb.add_option("-o,--output", options->output, "file to write; - is standard output")
      .type_name("FILE")
      .required();
  verb.add_option("--to", options->to, "format; default: by the output's extension")
      .type_name("FORMAT")
      .one_of(export_format_names());
  verb.add_option("--output-description", options->output_description,
                  "stacktrack: what expand_events --show_format prints on the platform to write "
                  "for")
      .type_name("FILE");
  add_measure_option(
      verb, options->measure, {"time"},
      "what the exports by path (speedscope, pprof, folded, callgrind, dot) measure: "
      "time of calls");
  add_counts_options(verb, options->counts);
  verb.add_flag("--compress", options->compress, "perfetto: compress packets inside the trace");
  verb.footer(describe_export_formats());
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
