#include "cli/study/labelled_evidence.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/progress_line.h"
#include "cli/study/program_sites.h"
#include "cli/study/stored_evidence.h"
#include "import/call_evidence.h"
#include "import/joined_evidence.h"
#include "import/open_recording.h"
#include "import/path_evidence.h"
#include "import/sampler/sampler_evidence.h"
#include "import/sampler/sampler_predicates.h"
#include "import/sampler/sampler_ranges.h"

namespace telltale::cli {
namespace {

void use_reports(const IsolationSources& sources, size_t workers, LabelledEvidence& evidence) {
  const IsolationInput& input = *evidence.input;
  auto predicates = std::make_unique<SamplerPredicates>(input.sites);
  SamplerEvidence read = read_sampler_evidence(
      input.reports, input.sites, *predicates,
      [&](const RunReport& report) { return InputFile::open(report.path, sources.limits); },
      workers);
  evidence.problems.merge(input.site_problems);
  evidence.problems.merge(read.problems);
  evidence.predicates = add_range_predicates(std::move(predicates), read, workers);
  evidence.runs = std::move(read.runs);
  evidence.report_of_run = std::move(read.report_of_run);
  evidence.first_true = std::move(read.first_true);
  evidence.without_report = read.without_report;
  evidence.unresolved = read.unresolved;
  if (!evidence.runs.empty() && read.observations == 0) {
    evidence.note =
        "nothing was observed: a program that samples needs SAMPLER_SPARSITY in its environment";
  }
}

OpenOptions options_of(const RunRecording& run, const IsolationSources& sources) {
  OpenOptions options;
  options.files = {run.path};
  options.limits = sources.limits;
  options.thread_names = false;
  return options;
}

// Adds the evidence of a study's core files to that of its reports.
Result<void> add_path_files(const IsolationSources& sources, size_t workers,
                            LabelledEvidence& evidence) {
  const std::vector<RunReport>& reports = evidence.input->reports;
  std::vector<RunRecording> recordings;
  std::vector<size_t> numbers;
  for (size_t i = 0; i < reports.size(); ++i) {
    if (reports[i].paths.empty()) continue;
    recordings.push_back({reports[i].paths, reports[i].failed});
    numbers.push_back(i);
  }
  const std::vector<std::string> programs = programs_of_cores(sources.programs, sources.limits);
  const ProgressLine progress(recordings.size());
  Result<RecordingEvidence> read = read_path_evidence(
      recordings,
      [&](const RunRecording& run) {
        OpenOptions options = options_of(run, sources);
        options.programs = programs;
        options.other_programs = true;
        return open_recording(options);
      },
      workers, relative_site_files(evidence.input->sites));
  if (!read) return std::unexpected(read.error());
  add_path_evidence(*std::move(read), numbers, evidence);
  return {};
}

// The capabilities of the first recording that can be read decide what is compared.
Result<void> use_recordings(const IsolationSources& sources, size_t workers, bool has_paths,
                            LabelledEvidence& evidence) {
  std::vector<RunRecording> recordings;
  for (const RunReport& report : evidence.input->reports)
    recordings.push_back({report.path, report.failed});
  const auto open = [&](const RunRecording& run) {
    OpenOptions options = options_of(run, sources);
    options.programs = sources.programs;
    return open_recording(options);
  };
  const ProgressLine progress(has_paths ? recordings.size() : 0);
  Result<RecordingEvidence> read = has_paths ? read_path_evidence(recordings, open, workers)
                                             : read_call_evidence(recordings, open, workers);
  if (!read) return std::unexpected(read.error());
  evidence.problems.merge(read->problems);
  evidence.predicates = std::move(read->predicates);
  evidence.runs = std::move(read->runs);
  evidence.report_of_run = std::move(read->recording_of_run);
  evidence.without_report = read->without_report;
  evidence.passed_deny_nothing = read->passed_deny_nothing;
  evidence.passed_have_lines = read->passed_have_lines;
  return {};
}

// Of the first run that left a recording; null: none did.
std::unique_ptr<const Recording> first_recording(const IsolationInput& input,
                                                 const InputLimits& limits) {
  for (const RunReport& report : input.reports) {
    OpenOptions options;
    options.files = {report.path};
    options.limits = limits;
    if (auto recording = open_recording(options)) return *std::move(recording);
  }
  return nullptr;
}

}  // namespace

RunsLeftOut runs_left_out(const LabelledEvidence& evidence) {
  RunsLeftOut left_out;
  for (const RunReport& report : evidence.input->reports)
    ++(report.failed ? left_out.failing : left_out.successful);
  for (const isolation::LabelledRun& run : evidence.runs)
    --(run.failed ? left_out.failing : left_out.successful);
  return left_out;
}

void add_path_evidence(RecordingEvidence read, const std::vector<size_t>& numbers,
                       LabelledEvidence& evidence) {
  evidence.problems.merge(read.problems);
  NumberedEvidence paths;
  paths.predicates = std::move(read.predicates);
  paths.runs = std::move(read.runs);
  for (const size_t recording : read.recording_of_run)
    paths.number_of_run.push_back(numbers[recording]);
  evidence.passed_deny_nothing = read.passed_deny_nothing && evidence.predicates == nullptr;
  evidence.passed_have_lines = read.passed_have_lines;
  if (evidence.predicates != nullptr) {
    paths = join_evidence({.predicates = std::move(evidence.predicates),
                           .runs = std::move(evidence.runs),
                           .number_of_run = std::move(evidence.report_of_run),
                           .first_true = std::move(evidence.first_true)},
                          std::move(paths));
    evidence.note = {};
  }
  evidence.predicates = std::move(paths.predicates);
  evidence.runs = std::move(paths.runs);
  evidence.report_of_run = std::move(paths.number_of_run);
  evidence.first_true = std::move(paths.first_true);
  const uint64_t others = evidence.input->reports.size() - evidence.runs.size();
  evidence.unresolved = std::min(evidence.unresolved, others);
  evidence.without_report = others - evidence.unresolved;
}

Result<LabelledEvidence> read_labelled_evidence(const IsolationSources& sources, size_t workers) {
  for (const std::string& path : sources.inputs) {
    if (is_store(path)) return read_stored_evidence(path, sources, workers);
  }
  Result<IsolationInput> input = find_isolation_input(sources);
  if (!input) return std::unexpected(input.error());
  LabelledEvidence evidence;
  evidence.input = std::make_unique<const IsolationInput>(*std::move(input));
  evidence.problems.merge(evidence.input->problems);
  const bool has_sites = !evidence.input->sites.sections().empty();
  const auto first = has_sites ? nullptr : first_recording(*evidence.input, sources.limits);
  const auto has = [&](Capability what) { return first != nullptr && first->has(what); };
  const bool has_path_files = std::ranges::any_of(
      evidence.input->reports, [](const RunReport& report) { return !report.paths.empty(); });
  if (has_sites || has(Capability::counts_at_sites)) {
    if (!has_sites) {
      return usage_error("no site information: use --program for the programs of the reports");
    }
    use_reports(sources, workers, evidence);
  } else if (first != nullptr || !has_path_files) {
    if (auto used = use_recordings(sources, workers, has(Capability::paths_in_frames), evidence);
        !used)
      return std::unexpected(used.error());
  }
  if (has_path_files) {
    if (auto added = add_path_files(sources, workers, evidence); !added)
      return std::unexpected(added.error());
  }
  return evidence;
}

}  // namespace telltale::cli
