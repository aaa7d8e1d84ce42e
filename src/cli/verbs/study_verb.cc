// `telltale study`: describes, merges and relabels studies.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/options/reading_options.h"
#include "cli/record/child_process.h"
#include "cli/study/label_command.h"
#include "cli/study/study_folder.h"
#include "cli/verbs/verbs.h"
#include "output/table/json_document.h"
#include "output/table/table.h"
#include "report/schemas/isolation_schemas.h"
#include "report/schemas/schemas.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

struct StudyVerbOptions {
  std::string action;
  std::vector<std::string> studies;
  std::string output;
  std::string label_command;
  bool json = false;
};

// Runs of one build by label.
struct BuildRuns {
  std::array<uint64_t, 3> by_label{};
  uint64_t without_report = 0;

  [[nodiscard]] uint64_t count(RunLabel label) const {
    return by_label[static_cast<size_t>(label)];
  }
  [[nodiscard]] uint64_t all() const { return by_label[0] + by_label[1] + by_label[2]; }
};

Result<std::vector<StudyRun>> runs_of(const std::string& study, ProblemLog& problems) {
  const std::string path = study_runs_path(study);
  const Result<InputFile> file = InputFile::open(path);
  if (!file) return std::unexpected(file.error());
  return read_study_runs(file->bytes(), path, problems);
}

int show_info(const StudyVerbOptions& options) {
  if (options.studies.size() != 1) return report_error(usage_error("info needs one study").error());
  const std::string& study = options.studies.front();
  ProblemLog problems;
  const auto runs = runs_of(study, problems);
  if (!runs) return report_error(runs.error());
  std::map<std::string, BuildRuns> builds;
  for (const StudyRun& run : *runs) {
    BuildRuns& build = builds[run.build];
    ++build.by_label[static_cast<size_t>(run.label)];
    std::error_code failure;
    const uintmax_t bytes = fs::file_size(study_report_path(study, run.number), failure);
    build.without_report += failure || bytes == 0 ? 1 : 0;
  }
  Table table{TableSchema(schemas::study_columns())};
  for (const auto& [name, build] : builds) {
    table.add_row({name, build.all(), build.count(RunLabel::failed), build.count(RunLabel::passed),
                   build.count(RunLabel::skipped), build.without_report});
  }
  const bool printed =
      print(options.json ? rows_document(schemas::kStudy, "", table, problems) : table.to_text());
  if (!printed) return kUnreadable;
  return report_problems({}, problems);
}

Result<void> copy_file(const std::string& from, const std::string& to) {
  std::error_code failure;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, failure);
  if (failure) return io_error(to, "cannot be written", failure.value());
  return {};
}

Result<void> merge_one(const std::string& from, StudyFolder& into, uint64_t& next,
                       ProblemLog& problems) {
  const auto runs = runs_of(from, problems);
  if (!runs) return std::unexpected(runs.error());
  const auto sites = study_sites(from);
  if (!sites) return std::unexpected(sites.error());
  for (const std::string& table : *sites) {
    const fs::path copy = fs::path(study_sites_folder(into.path())) / fs::path(table).filename();
    if (auto copied = copy_file(table, copy.string()); !copied) return copied;
  }
  for (StudyRun run : *runs) {
    const std::string report = study_report_path(from, run.number);
    run.number = next++;
    std::error_code failure;
    if (fs::exists(report, failure)) {
      if (auto copied = copy_file(report, study_report_path(into.path(), run.number)); !copied)
        return copied;
    }
    if (auto appended = into.append(run); !appended) return appended;
  }
  return {};
}

int merge(const StudyVerbOptions& options) {
  if (options.output.empty())
    return report_error(usage_error("merge writes a study: use -o").error());
  for (const std::string& study : options.studies) {
    if (!is_study(study)) return report_error(usage_error(study + " is not a study").error());
    std::error_code failure;
    if (fs::equivalent(study, options.output, failure))
      return report_error(usage_error(study + " cannot be merged into itself").error());
  }
  Result<StudyFolder> into = StudyFolder::open(options.output);
  if (!into) return report_error(into.error());
  ProblemLog problems;
  uint64_t next = into->next_run();
  for (const std::string& study : options.studies) {
    if (auto merged = merge_one(study, *into, next, problems); !merged)
      return report_error(merged.error());
  }
  return report_problems({}, problems);
}

// The label by signal and exit status alone, as at recording time.
void label_by_outcome(StudyRun& run) {
  if (run.rule == "timeout") return;
  run.rule = run.status ? "status" : "signal";
  run.label = run.status == 0 ? RunLabel::passed : RunLabel::failed;
}

Result<void> label_by_command(StudyRun& run, const std::string& command,
                              const std::string& report) {
  int start_failure = 0;
  const Result<ChildOutcome> outcome =
      run_child({{"sh", "-c", command}, label_environment(run, report)}, start_failure);
  if (!outcome) return std::unexpected(outcome.error());
  const Result<RunLabel> label = label_of(command, outcome->wait_status);
  if (!label) return std::unexpected(label.error());
  run.label = *label;
  run.rule = "command";
  return {};
}

int relabel(const StudyVerbOptions& options) {
  if (options.studies.size() != 1)
    return report_error(usage_error("relabel needs one study").error());
  if (!is_study(options.studies.front()))
    return report_error(usage_error(options.studies.front() + " is not a study").error());
  Result<StudyFolder> study = StudyFolder::open(options.studies.front());
  if (!study) return report_error(study.error());
  std::vector<StudyRun> runs = study->runs();
  uint64_t changed = 0;
  for (StudyRun& run : runs) {
    const RunLabel before = run.label;
    if (options.label_command.empty()) {
      label_by_outcome(run);
    } else if (auto labelled = label_by_command(run, options.label_command,
                                                study_report_path(study->path(), run.number));
               !labelled) {
      return report_error(labelled.error());
    }
    changed += run.label == before ? 0 : 1;
  }
  if (auto written = study->rewrite(runs); !written) return report_error(written.error());
  fmt::print(stderr, "telltale: {} of {} runs have another label\n", changed, runs.size());
  return kDone;
}

int run(const StudyVerbOptions& options) {
  if (options.action == "info") return show_info(options);
  return options.action == "merge" ? merge(options) : relabel(options);
}

}  // namespace

void add_study_verb(Command app, int& status) {
  Command verb =
      app.add_verb("study", "count, merge or relabel the runs kept by `telltale run --study`");
  const auto options = std::make_shared<StudyVerbOptions>();
  verb.add_option("ACTION", options->action,
                  "info: runs by build and label; merge: the runs of all studies in a new one; "
                  "relabel: label the runs anew")
      .required()
      .one_of({"info", "merge", "relabel"});
  verb.add_option("STUDY", options->studies, "folder of a study").required();
  verb.add_option("-o,--output", options->output, "merge: the study to write or to add to")
      .type_name("DIR");
  verb.add_option("--label", options->label_command,
                  "relabel: shell command whose exit status labels a run: 0 passed, 125 skipped, "
                  "others failed. TELLTALE_RUN, TELLTALE_STATUS, TELLTALE_SIGNAL, "
                  "TELLTALE_SECONDS, TELLTALE_COMMAND and TELLTALE_REPORT describe the run. "
                  "Default: by exit status, signal and timeout")
      .type_name("CMD");
  verb.add_flag("--json", options->json, "info: print JSON");
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
