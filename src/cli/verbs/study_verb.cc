// `telltale study`: describes, merges and relabels studies.
#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/counted.h"
#include "base/folder_access.h"
#include "base/repeated_files.h"
#include "cli/options/message.h"
#include "cli/options/reading_options.h"
#include "cli/record/child_process.h"
#include "cli/study/fuzz_study.h"
#include "cli/study/label_command.h"
#include "cli/study/run_row.h"
#include "cli/study/study_folder.h"
#include "cli/verbs/verbs.h"
#include "import/study_stacks.h"
#include "output/escape.h"
#include "output/json_writer.h"
#include "output/table/object_writer.h"
#include "output/table/table.h"
#include "report/schemas/isolation_schemas.h"
#include "report/schemas/schemas.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLister = "telltale study info --json";

struct StudyVerbOptions {
  std::string action;
  std::vector<std::string> studies;
  std::string output;
  std::string label_command;
  bool json = false;
  FuzzStudyOptions fuzz;
  std::vector<std::string> more_inputs;
  std::vector<std::string> command;
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

Result<void> check_study_folder(const std::string& folder) {
  if (is_study(folder)) return {};
  if (auto allowed = check_folder_access(folder); !allowed) return allowed;
  return usage_error(folder + " is not a study");
}

Table cluster_rows(const std::vector<StudyRun>& runs, const StudyStacks& stacks) {
  std::vector<isolation::Crash> crashes;
  std::vector<uint64_t> numbers;
  for (const StudyRun& run : runs) {
    if (run.label != RunLabel::failed) continue;
    crashes.push_back(crash_of(run, stacks));
    numbers.push_back(run.number);
  }
  Table table{TableSchema(schemas::study_cluster_columns())};
  for (const isolation::CrashCluster& one : isolation::cluster_crashes(crashes)) {
    table.add_row({one.id, uint64_t{one.members.size()}, one.ending, one.stack,
                   numbers[one.members.front()]});
  }
  return table;
}

std::string info_document(const Table& builds, const Table& clusters, const ProblemLog& problems) {
  std::string text;
  JsonWriter json(text, 2);
  DocumentWriter document(json, schemas::kStudy, "");
  document.table("rows", builds).table("clusters", clusters);
  document.finish(problems);
  return text;
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
    const bool has_report = !failure && bytes != 0;
    const bool has_paths = fs::exists(study_paths_path(study, run.number), failure);
    build.without_report += has_report || has_paths ? 0 : 1;
  }
  const auto stacks = read_study_stacks(study, problems);
  if (!stacks) return report_error(stacks.error());
  const Table clusters = cluster_rows(*runs, *stacks);
  Table table{TableSchema(schemas::study_columns())};
  for (const auto& [name, build] : builds) {
    table.add_row({name, build.all(), build.count(RunLabel::failed), build.count(RunLabel::passed),
                   build.count(RunLabel::skipped), build.without_report});
  }
  std::string text = options.json ? info_document(table, clusters, problems) : table.to_text();
  if (!options.json && clusters.rows() != 0) text += "\n" + clusters.to_text();
  if (!print(text)) return kUnreadable;
  return report_problems({}, problems, kLister);
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
  const auto stacks = read_study_stacks(from, problems);
  if (!stacks) return std::unexpected(stacks.error());
  for (StudyRun run : *runs) {
    const std::string report = study_report_path(from, run.number);
    const std::string paths = study_paths_path(from, run.number);
    const auto stack = stacks->find(run.number);
    run.number = next++;
    if (stack != stacks->end()) {
      if (auto appended = into.append_stack(run.number, stack->second); !appended) return appended;
    }
    std::error_code failure;
    if (fs::exists(report, failure)) {
      if (auto copied = copy_file(report, study_report_path(into.path(), run.number)); !copied)
        return copied;
    }
    if (fs::exists(paths, failure)) {
      auto copied = into.make_paths_folder();
      if (copied) copied = copy_file(paths, study_paths_path(into.path(), run.number));
      if (!copied) return copied;
    }
    if (auto appended = into.append(run); !appended) return appended;
  }
  return {};
}

int merge(const StudyVerbOptions& options) {
  if (options.output.empty())
    return report_error(usage_error("merge writes a study: use -o").error());
  if (const Result<void> once = refuse_repeated(options.studies); !once)
    return report_error(once.error());
  for (const std::string& study : options.studies) {
    if (auto known = check_study_folder(study); !known) return report_error(known.error());
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
  return report_problems({}, problems, kLister);
}

// The label by signal and exit status alone, as at recording time.
void label_by_outcome(StudyRun& run) {
  if (run.rule == kTimeoutRule || run.rule == kPipeRule) return;
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
  if (auto known = check_study_folder(options.studies.front()); !known)
    return report_error(known.error());
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
  print_message("telltale: the label of {} of {} has changed\n", changed,
                counted(runs.size(), "run"));
  return kDone;
}

// The first positional argument is the fuzzer's folder, the others are the command.
int fuzz(StudyVerbOptions& options) {
  FuzzStudyOptions& fuzz = options.fuzz;
  fuzz.folders = {options.studies.front()};
  fuzz.folders.insert(fuzz.folders.end(), options.more_inputs.begin(), options.more_inputs.end());
  fuzz.command.assign(options.studies.begin() + 1, options.studies.end());
  fuzz.command.insert(fuzz.command.end(), options.command.begin(), options.command.end());
  if (fuzz.command.empty()) {
    return report_error(
        usage_error("fuzz needs a program to run: telltale study fuzz FOLDER -- PROG @@").error());
  }
  fuzz.study = options.output;
  if (fuzz.study.empty()) {
    const fs::path folder = fs::path(fuzz.folders.front()).lexically_normal();
    fuzz.study = (folder.has_filename() ? folder : folder.parent_path()).string() + ".study";
    if (!fuzz.quiet) print_message("telltale: the study is {}\n", visible(fuzz.study));
  }
  fuzz.label_command = options.label_command;
  return record_fuzz_study(fuzz);
}

int run(StudyVerbOptions& options) {
  if (options.action == "fuzz") return fuzz(options);
  if (options.action == "info") return show_info(options);
  return options.action == "merge" ? merge(options) : relabel(options);
}

void add_fuzz_options(Command verb, StudyVerbOptions& options) {
  FuzzStudyOptions& fuzz = options.fuzz;
  const auto add = [&](Option option) { option.group("fuzz"); };
  add(verb.add_option("--inputs", options.more_inputs,
                      "another folder, or an input: libFuzzer's crashes are not in its corpus")
          .type_name("PATH")
          .one_value_each());
  add(verb.add_option("--mutations", fuzz.mutations,
                      "also run N copies of failing inputs with small changes, for each crash "
                      "cluster: similar runs that fail and that pass")
          .type_name("N"));
  add(verb.add_flag("--minimize", fuzz.minimize,
                    "find a smallest input of each cluster by removing bytes"));
  add(verb.add_option("--minimize-tries", fuzz.minimize_tries, "runs for that, for each cluster")
          .type_name("N")
          .show_default());
  add(verb.add_option("--jobs", fuzz.parallel, "runs at a time")
          .in_range(uint64_t{1}, uint64_t{1024})
          .type_name("J"));
  add(verb.add_option("--timeout", fuzz.timeout, "a run that takes longer fails, and is ended")
          .type_name("TIME")
          .show_default());
  add(verb.add_option("--seed", fuzz.seed, "of mutations and of sampling (default: random)")
          .type_name("S"));
  add(verb.add_option("--sparsity", fuzz.sparsity, "observe one in N places; 1: everything")
          .in_range(uint64_t{1}, uint64_t{1} << 53)
          .type_name("N"));
  add(verb.add_option("--program", fuzz.programs,
                      "a program or library with sites that the command starts or loads; its own "
                      "sites are known")
          .type_name("BIN")
          .one_value_each());
  add(verb.add_option("--limit", fuzz.limit, "clusters that are minimized and isolated; 0: all")
          .type_name("N")
          .show_default());
  add(verb.add_flag("-q,--quiet", fuzz.quiet, "print only the table"));
}

}  // namespace

void add_study_verb(Command app, int& status) {
  Command verb =
      app.add_verb("study",
                   "count, merge or relabel the runs kept by `telltale run --study`; make a "
                   "study of a fuzzer's inputs");
  const auto options = std::make_shared<StudyVerbOptions>();
  verb.add_option("ACTION", options->action,
                  "info: runs by build and label; merge: the runs of all studies in a new one; "
                  "relabel: label the runs anew; fuzz: run a program on each input of a fuzzer, "
                  "and isolate each kind of crash")
      .required()
      .one_of({"info", "merge", "relabel", "fuzz"});
  verb.add_option("STUDY", options->studies,
                  "folder of a study. fuzz: folder of AFL++, honggfuzz or libFuzzer, or an input")
      .required();
  // CLI11 refuses -- unless an argument is left that could follow; STUDY takes it all the same.
  verb.add_option("PROGRAM", options->command,
                  "fuzz: after --, the program and its arguments. @@ is the input; without it, the "
                  "program reads it from standard input");
  verb.add_option("-o,--output", options->output,
                  "merge, fuzz: the study to write or to add to (fuzz: default FOLDER.study)")
      .type_name("DIR");
  verb.add_option(
          "--label", options->label_command,
          "relabel, fuzz: shell command whose exit status labels a run: 0 passed, 125 skipped, "
          "others failed. TELLTALE_RUN, TELLTALE_STATUS, TELLTALE_SIGNAL, "
          "TELLTALE_SECONDS, TELLTALE_COMMAND and TELLTALE_REPORT describe the run. "
          "Default: by exit status, signal and timeout; fuzz: by signal and timeout")
      .type_name("CMD");
  add_fuzz_options(verb, *options);
  verb.add_flag("--json", options->json, "info: print JSON");
  verb.callback([options, &status] { status = run(*options); });
}

}  // namespace telltale::cli
