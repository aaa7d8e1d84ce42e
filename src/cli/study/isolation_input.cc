#include "cli/study/isolation_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/folder_access.h"
#include "base/joined.h"
#include "base/sort_rows.h"
#include "import/study.h"
#include "import/study_stacks.h"

namespace telltale::cli {
namespace {

namespace fs = std::filesystem;

// The site table of a study's build, or of a library.
struct BuildSites {
  std::string path;
  std::string build;
  std::string library;  // empty: the program of the runs
  std::string since;    // when its first run started, in any of the studies; empty: no run is known
};

// `table`: null if the user named the file.
Result<void> add_sites(const std::string& path, const IsolationSources& sources,
                       IsolationInput& input, const BuildSites* table) {
  const Result<bool> added =
      table != nullptr
          ? input.sites.add_build(path, table->library, sources.limits, input.site_problems)
          : input.sites.add(path, sources.limits, input.site_problems);
  if (!added && added.error().cause == Error::Cause::io) return std::unexpected(added.error());
  if (!added || !*added) {
    input.site_problems.add({Problem::Kind::loss, 0, path, "program",
                             added ? "has no section .debug_site_info" : added.error().detail, 0});
  }
  return {};
}

void add_run(RunLabel label, RunReport report, IsolationInput& input) {
  if (label == RunLabel::skipped) {
    ++input.skipped;
  } else {
    report.failed = label == RunLabel::failed;
    input.reports.push_back(std::move(report));
  }
}

// Its file of TELLTALE_PATHS; empty: it left none.
std::string paths_of(const std::string& folder, uint64_t run) {
  std::string path = study_paths_path(folder, run);
  std::error_code failure;
  return fs::exists(path, failure) ? path : std::string();
}

// How runs ended, by their index in IsolationInput::reports.
using Crashes = std::map<size_t, isolation::Crash>;

// What studies have beside their reports.
struct StudyFacts {
  Crashes crashes;
  std::vector<BuildSites> sites;
  std::set<std::string> builds;  // of all their runs
};

// The site tables of a study, without those of builds whose runs are left out.
Result<void> find_build_sites(const std::string& folder, const std::vector<StudyRun>& runs,
                              const IsolationSources& sources, std::vector<BuildSites>& into) {
  std::map<std::string_view, std::string_view> since;
  for (const StudyRun& run : runs) {
    const auto [known, is_new] = since.try_emplace(run.build, run.started);
    if (!is_new) known->second = std::min(known->second, std::string_view(run.started));
  }
  const Result<std::vector<std::string>> tables = study_sites(folder);
  if (!tables) return std::unexpected(tables.error());
  for (const std::string& table : *tables) {
    const auto [build, library] = study_sites_of(table);
    const auto known = since.find(build);
    if (known == since.end() || !library.empty()) {
      into.push_back({table, build, library, {}});
    } else if (is_chosen(build, sources)) {
      into.push_back({table, build, {}, std::string(known->second)});
    }
  }
  return {};
}

// The newest build first: what its sites say of a statement that several builds have counts.
Result<void> add_build_sites(std::vector<BuildSites> tables, const IsolationSources& sources,
                             IsolationInput& input) {
  std::map<std::string, std::string> since;
  for (const BuildSites& table : tables) {
    std::string& first = since[table.build];
    if (first.empty() || (!table.since.empty() && table.since < first)) first = table.since;
  }
  sort_rows(tables, [&](const BuildSites& a, const BuildSites& b) {
    return std::tie(since[b.build], a.build, a.path) < std::tie(since[a.build], b.build, b.path);
  });
  for (const BuildSites& table : tables) {
    if (auto added = add_sites(table.path, sources, input, &table); !added) return added;
  }
  return {};
}

Result<void> add_study(const std::string& folder, const IsolationSources& sources,
                       IsolationInput& input, StudyFacts& facts) {
  const std::string path = study_runs_path(folder);
  const Result<InputFile> file = InputFile::open(path, sources.limits);
  if (!file) return std::unexpected(file.error());
  auto runs = read_study_runs(file->bytes(), path, input.problems);
  if (!runs) return std::unexpected(runs.error());
  if (sources.slow != 0) label_slow(*runs, sources.slow);
  const auto stacks = read_study_stacks(folder, input.problems);
  if (!stacks) return std::unexpected(stacks.error());
  for (const StudyRun& run : *runs) {
    facts.builds.insert(run.build);
    if (!is_chosen(run.build, sources)) continue;
    BuildRun& build = input.builds.try_emplace(run.build, run.command).first->second;
    if (build.paths.empty()) build.paths = paths_of(folder, run.number);
    if (run.label == RunLabel::failed) facts.crashes[input.reports.size()] = crash_of(run, *stacks);
    add_run(run.label,
            {.path = study_report_path(folder, run.number),
             .number = run.number,
             .paths = paths_of(folder, run.number)},
            input);
  }
  return find_build_sites(folder, *runs, sources, facts.sites);
}

// Each line: label, tab, path of a report.
Result<void> add_list(const std::string& path, const IsolationSources& sources,
                      IsolationInput& input) {
  const Result<InputFile> file = InputFile::open(path, sources.limits);
  if (!file) return std::unexpected(file.error());
  const Bytes bytes = file->bytes();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const fs::path folder = path == "-" ? fs::path() : fs::path(path).parent_path();
  for (uint64_t at = 0; !text.empty();) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const size_t tab = line.find('\t');
    const std::optional<RunLabel> label = parse_run_label(line.substr(0, tab));
    if (!label || tab == std::string_view::npos || tab + 1 == line.size()) {
      return std::unexpected(
          Error{Error::Cause::bad_field, path, "line",
                "is not a label (failed, passed or skipped), a tab and the path of a report", at});
    }
    add_run(*label,
            {.path = (folder / line.substr(tab + 1)).string(), .number = input.reports.size() + 1},
            input);
    const size_t used = std::min(line.size() + 1, text.size());
    text.remove_prefix(used);
    at += used;
  }
  return {};
}

// A report, or all files of a folder.
Result<void> add_reports(const std::string& path, bool failed, IsolationInput& input) {
  std::error_code failure;
  if (!fs::is_directory(path, failure)) {
    if (!fs::exists(path, failure)) return io_error(path, "cannot be read", ENOENT);
    input.reports.push_back({path, failed, input.reports.size() + 1});
    return {};
  }
  std::vector<std::string> files;
  fs::directory_iterator at(path, failure);
  for (; !failure && at != fs::directory_iterator(); at.increment(failure)) {
    // The XRay recorder leaves a second file beside each recording.
    const fs::path& entry = at->path();
    const bool belongs =
        entry.extension() == ".side" && fs::exists(entry.parent_path() / entry.stem(), failure);
    // A link that leads nowhere is a run whose report is missing.
    std::error_code unknown;
    const bool is_missing = at->is_symlink(unknown) && !fs::exists(entry, unknown);
    if ((at->is_regular_file(unknown) || is_missing) && !belongs) files.push_back(entry.string());
  }
  if (failure) return io_error(path, "cannot be listed", failure.value());
  sort_rows(files);
  for (std::string& file : files)
    input.reports.push_back({std::move(file), failed, input.reports.size() + 1});
  return {};
}

Result<void> add_input(const std::string& path, const IsolationSources& sources,
                       IsolationInput& input, StudyFacts& facts) {
  std::error_code failure;
  if (path == "-" || !fs::is_directory(path, failure)) return add_list(path, sources, input);
  if (is_study(path)) return add_study(path, sources, input, facts);
  if (auto allowed = check_folder_access(path); !allowed) return allowed;
  return usage_error(
      path +
      " is not a study (it has no runs.tsv); use --failed and --passed for folders of reports");
}

std::vector<isolation::CrashCluster> find_clusters(const Crashes& crashes) {
  std::vector<size_t> reports;
  std::vector<isolation::Crash> endings;
  for (const auto& [report, crash] : crashes) {
    reports.push_back(report);
    endings.push_back(crash);
  }
  std::vector<isolation::CrashCluster> clusters = isolation::cluster_crashes(endings);
  for (isolation::CrashCluster& cluster : clusters) {
    for (size_t& member : cluster.members) member = reports[member];
  }
  return clusters;
}

// Leaves one cluster, and the failed runs that are in it.
Result<void> keep_cluster(const std::string& id, IsolationInput& input) {
  std::vector<isolation::CrashCluster> kept;
  std::string known;
  for (isolation::CrashCluster& cluster : input.clusters) {
    known += (known.empty() ? "" : ", ") + cluster.id;
    if (cluster.id.starts_with(id)) kept.push_back(std::move(cluster));
  }
  if (kept.size() != 1) {
    return usage_error(fmt::format(
        "--cluster {} is {}: {}", id, kept.empty() ? "no crash cluster" : "more than one cluster",
        known.empty() ? "no failed run of a study is given" : "there are " + known));
  }
  std::vector<RunReport> reports;
  std::vector<size_t> members;
  for (size_t i = 0; i < input.reports.size(); ++i) {
    const bool member = std::ranges::binary_search(kept.front().members, i);
    if (input.reports[i].failed && !member) {
      ++input.other_clusters;
      continue;
    }
    if (member) members.push_back(reports.size());
    reports.push_back(std::move(input.reports[i]));
  }
  input.reports = std::move(reports);
  kept.front().members = std::move(members);
  input.clusters = std::move(kept);
  return {};
}

}  // namespace

bool is_chosen(const std::string& build, const IsolationSources& sources) {
  return build.starts_with(sources.build) &&
         (sources.other_than.empty() || !build.starts_with(sources.other_than));
}

Result<void> check_choice(const std::set<std::string>& builds, const IsolationSources& sources) {
  if (builds.empty() || std::ranges::any_of(builds, [&](const std::string& build) {
        return is_chosen(build, sources);
      }))
    return {};
  const std::string chosen =
      sources.build.empty() ? "every run is of a build whose id begins with " + sources.other_than
      : sources.other_than.empty()
          ? "no run is of a build whose id begins with " + sources.build
          : fmt::format("no run is of a build whose id begins with {}, but not with {}",
                        sources.build, sources.other_than);
  return usage_error(fmt::format("{}: the builds are {}", chosen, joined(builds, ", ")));
}

Result<IsolationInput> find_isolation_input(const IsolationSources& sources) {
  if (sources.inputs.empty() && sources.failed.empty() && sources.passed.empty()) {
    return usage_error(
        "isolate reads a study, a list of runs, or the reports of --failed and --passed");
  }
  if (!sources.application.empty()) return usage_error("--application is for stores");
  IsolationInput input;
  for (const std::string& program : sources.programs) {
    if (auto added = add_sites(program, sources, input, nullptr); !added)
      return std::unexpected(added.error());
  }
  StudyFacts facts;
  for (const std::string& path : sources.inputs) {
    if (auto added = add_input(path, sources, input, facts); !added)
      return std::unexpected(added.error());
  }
  if (auto checked = check_choice(facts.builds, sources); !checked)
    return std::unexpected(checked.error());
  if (auto added = add_build_sites(std::move(facts.sites), sources, input); !added)
    return std::unexpected(added.error());
  for (const bool failed : {true, false}) {
    for (const std::string& path : failed ? sources.failed : sources.passed) {
      if (auto added = add_reports(path, failed, input); !added)
        return std::unexpected(added.error());
    }
  }
  input.clusters = find_clusters(facts.crashes);
  if (!sources.cluster.empty()) {
    if (auto kept = keep_cluster(sources.cluster, input); !kept)
      return std::unexpected(kept.error());
  }
  return input;
}

}  // namespace telltale::cli
