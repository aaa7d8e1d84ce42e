#include "cli/study/stored_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/isolation/crash_cluster.h"
#include "base/joined.h"
#include "bytes/as_bytes.h"
#include "cli/study/program_sites.h"
#include "collect/store/run_files.h"
#include "collect/store/store_evidence.h"
#include "collect/store/store_paths.h"
#include "collect/store_folder.h"
#include "import/path_evidence.h"
#include "import/sampler/report_stack.h"
#include "import/sampler/sampler_backtrace.h"
#include "import/sampler/sampler_predicates.h"
#include "import/sampler/sampler_ranges.h"
#include "import/study_stacks.h"

namespace telltale::cli {
namespace {

using collect::RunFile;
using collect::StoreFolder;

std::unexpected<Error> no_sites(const StoreFolder& store, const ProblemLog& problems) {
  if (const auto kept = problems.kept(); !kept.empty())
    return usage_error(fmt::format("no site information of these builds can be read: {}",
                                   to_string(kept.front())));
  return usage_error(fmt::format(
      "{} has no site information of these builds, and no path files: add it with `telltale store "
      "sites`, or use --program",
      store.path()));
}

// The files of the chosen application and builds.
Result<std::vector<RunFile>> choose_files(const StoreFolder& store,
                                          const IsolationSources& sources) {
  auto found = collect::run_files(store);
  if (!found) return std::unexpected(found.error());
  std::vector<RunFile> files = *std::move(found);
  std::set<std::string> applications;
  for (const RunFile& file : files) applications.insert(file.application);
  std::string chosen = sources.application;
  if (chosen.empty() && applications.size() > 1)
    return usage_error(fmt::format("{} has reports of {}: choose one with --application",
                                   store.path(), joined(applications, ", ")));
  if (chosen.empty() && !applications.empty()) chosen = *applications.begin();
  std::erase_if(files, [&](const RunFile& file) { return file.application != chosen; });
  std::set<std::string> builds;
  for (const RunFile& file : files) builds.insert(file.build);
  if (auto checked = check_choice(builds, sources); !checked)
    return std::unexpected(checked.error());
  std::erase_if(files, [&](const RunFile& file) { return !is_chosen(file.build, sources); });
  return files;
}

Result<void> add_sites(const std::string& path, const IsolationSources& sources,
                       IsolationInput& input, bool is_build) {
  const Result<bool> added =
      is_build ? input.sites.add_build(path, {}, sources.limits, input.site_problems)
               : input.sites.add(path, sources.limits, input.site_problems);
  if (!added && added.error().cause == Error::Cause::io) return std::unexpected(added.error());
  if (!added || !*added)
    input.site_problems.add({Problem::Kind::loss, 0, path, "program",
                             added ? "has no section .debug_site_info" : added.error().detail, 0});
  return {};
}

Result<void> find_sites(const StoreFolder& store, const std::vector<RunFile>& files,
                        const IsolationSources& sources, IsolationInput& input) {
  for (const std::string& program : sources.programs) {
    if (auto added = add_sites(program, sources, input, false); !added) return added;
  }
  const auto builds = collect::builds_by_age(files);
  if (!builds) return std::unexpected(builds.error());
  for (const std::string& build : *builds) {
    const std::string path = store.sites_of(files.front().application, build);
    std::error_code failure;
    if (!std::filesystem::exists(path, failure) && !failure) continue;
    if (auto added = add_sites(path, sources, input, true); !added) return added;
  }
  return {};
}

// The runs that left path files, by their numbers in IsolationInput::reports.
class StoredPathRuns {
 public:
  // Leaves out those that are neither failed nor passed.
  StoredPathRuns(std::vector<collect::RunPaths> runs, const std::vector<RunReport>& reports) {
    std::unordered_map<std::string_view, size_t> numbers;
    for (size_t i = 0; i < reports.size(); ++i) numbers.emplace(reports[i].path, i);
    for (collect::RunPaths& run : runs) {
      const auto number = numbers.find(run.id);
      // Another writer's file may have an id twice.
      if (number == numbers.end() || !by_report_.emplace(number->second, runs_.size()).second)
        continue;
      numbers_.push_back(number->second);
      recordings_.push_back({std::move(run.id), reports[number->second].failed});
      runs_.push_back(std::move(run.read));
    }
  }
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  // With which the run ended, as its path file has it; may be empty.
  [[nodiscard]] std::vector<isolation::StackFrame> stack_of(size_t report) const {
    const auto found = by_report_.find(report);
    if (found == by_report_.end() || !runs_[found->second].facts) return {};
    return runs_[found->second].facts->stack;
  }
  void add_to(LabelledEvidence& evidence) && {
    add_path_evidence(
        path_evidence(std::move(runs_), recordings_, relative_site_files(evidence.input->sites)),
        numbers_, evidence);
  }

 private:
  std::vector<PathRun> runs_;
  std::vector<RunRecording> recordings_;
  std::vector<size_t> numbers_;
  std::unordered_map<size_t, size_t> by_report_;
};

// Resolves backtraces of a build with the programs that the store keeps of it, and with `given`.
Result<std::map<std::string, BacktraceResolver>> find_resolvers(
    const StoreFolder& store, const std::vector<RunFile>& files,
    const std::vector<std::string>& given) {
  std::map<std::string, BacktraceResolver> resolvers;
  for (const RunFile& file : files) {
    if (resolvers.contains(file.build)) continue;
    auto programs = collect::stored_programs(store, file.application, file.build);
    if (!programs) return std::unexpected(programs.error());
    programs->insert(programs->end(), given.begin(), given.end());
    resolvers.emplace(file.build, *std::move(programs));
  }
  return resolvers;
}

// The crash clusters of the failed runs, as those of a study. `resolvers`: by build.
std::vector<isolation::CrashCluster> find_clusters(
    const std::vector<collect::StoreEvidence::Ending>& endings, const StoredPathRuns& paths,
    std::map<std::string, BacktraceResolver>& resolvers) {
  std::vector<isolation::Crash> crashes;
  for (const collect::StoreEvidence::Ending& ending : endings) {
    StudyStacks stacks;
    std::vector<isolation::StackFrame>& stack = stacks[ending.run.number];
    stack = read_report_stack(InputFile::from_memory("backtrace", as_bytes(ending.backtrace)),
                              resolvers.at(ending.run.build));
    if (stack.empty()) stack = paths.stack_of(ending.report);
    crashes.push_back(crash_of(ending.run, stacks));
  }
  std::vector<isolation::CrashCluster> clusters = isolation::cluster_crashes(crashes);
  for (isolation::CrashCluster& cluster : clusters) {
    for (size_t& member : cluster.members) member = endings[member].report;
  }
  return clusters;
}

}  // namespace

bool is_store(const std::string& folder) { return StoreFolder(folder).exists(); }

Result<LabelledEvidence> read_stored_evidence(const std::string& folder,
                                              const IsolationSources& sources, size_t workers) {
  if (sources.inputs.size() != 1 || !sources.failed.empty() || !sources.passed.empty())
    return usage_error(folder + " is a store, which is isolated by itself");
  if (!sources.cluster.empty()) return usage_error("--cluster is for studies");
  const StoreFolder store(folder);
  const auto files = choose_files(store, sources);
  if (!files) return std::unexpected(files.error());
  IsolationInput input;
  if (auto found = find_sites(store, *files, sources, input); !found)
    return std::unexpected(found.error());
  if (store.has_unfolded().value_or(false))
    input.problems.add({Problem::Kind::by_design, 0, store.log(), "log",
                        "reports that are not folded yet are left out (telltale store fold)", 0});
  auto held = std::make_unique<IsolationInput>(std::move(input));
  auto predicates = std::make_unique<SamplerPredicates>(held->sites);
  auto read = collect::read_store_evidence(*files, held->sites, *predicates, workers);
  if (!read) return std::unexpected(read.error());
  held->reports = std::move(read->reports);
  held->skipped = read->skipped;
  auto path_files = collect::read_store_paths(
      store, *files, programs_of_cores(sources.programs, sources.limits), sources.limits, workers);
  if (!path_files) return std::unexpected(path_files.error());
  StoredPathRuns paths(*std::move(path_files), held->reports);
  const bool has_sites = !held->sites.sections().empty();
  if (!has_sites && paths.empty() && !files->empty()) return no_sites(store, held->site_problems);
  auto resolvers = find_resolvers(store, *files, sources.programs);
  if (!resolvers) return std::unexpected(resolvers.error());
  held->clusters = find_clusters(read->endings, paths, *resolvers);
  LabelledEvidence evidence;
  evidence.problems.merge(held->problems);
  evidence.problems.merge(held->site_problems);
  evidence.input = std::move(held);
  if (has_sites || paths.empty()) {
    evidence.problems.merge(read->evidence.problems);
    evidence.predicates = add_range_predicates(std::move(predicates), read->evidence, workers);
    evidence.runs = std::move(read->evidence.runs);
    evidence.report_of_run = std::move(read->evidence.report_of_run);
    evidence.first_true = std::move(read->evidence.first_true);
    evidence.without_report = read->evidence.without_report;
    evidence.unresolved = read->evidence.unresolved;
  }
  if (!paths.empty()) std::move(paths).add_to(evidence);
  return evidence;
}

}  // namespace telltale::cli
