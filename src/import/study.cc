#include "import/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <span>

#include "base/counted.h"
#include "base/joined.h"
#include "base/sort_rows.h"

namespace telltale {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "# telltale study 1";
constexpr std::array<std::string_view, 12> kColumns = {"run",      "label",   "rule",    "status",
                                                       "signal",   "seconds", "started", "build",
                                                       "sparsity", "seed",    "command", "version"};
// Earlier files have no versions.
constexpr size_t kFewestColumns = 11;

std::string head_of(size_t columns) {
  return fmt::format("{}\n{}\n", kMagic, joined(std::span(kColumns).first(columns), "\t"));
}

template <typename Number>
std::optional<Number> parse(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A field holds no tab and no line end.
std::string column_text(std::string_view text) {
  std::string kept(text);
  std::ranges::replace_if(kept, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return kept;
}

std::optional<StudyRun> parse_run(std::string_view line) {
  std::array<std::string_view, kColumns.size()> fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    const size_t tab = line.find('\t');
    fields[i] = line.substr(0, tab);
    if (tab == std::string_view::npos) {
      if (i + 1 < kFewestColumns) return std::nullopt;
      break;
    }
    if (i + 1 == fields.size()) return std::nullopt;
    line.remove_prefix(tab + 1);
  }
  const auto number = parse<uint64_t>(fields[0]);
  const auto label = parse_run_label(fields[1]);
  const auto status = parse<int>(fields[3]);
  const auto seconds = parse<double>(fields[5]);
  const auto sparsity = parse<uint64_t>(fields[8]);
  const auto seed = parse<uint64_t>(fields[9]);
  if (!number || !label || !seconds || !sparsity || !seed || (!status && !fields[3].empty()))
    return std::nullopt;
  return StudyRun{*number,
                  *label,
                  std::string(fields[2]),
                  status,
                  std::string(fields[4]),
                  *seconds,
                  std::string(fields[6]),
                  std::string(fields[7]),
                  *sparsity,
                  *seed,
                  std::string(fields[10]),
                  std::string(fields[11])};
}

}  // namespace

std::string_view to_string(RunLabel label) {
  switch (label) {
    case RunLabel::passed:
      return "passed";
    case RunLabel::failed:
      return "failed";
    case RunLabel::skipped:
      return "skipped";
  }
  return "";
}

std::optional<RunLabel> parse_run_label(std::string_view text) {
  for (const RunLabel label : {RunLabel::passed, RunLabel::failed, RunLabel::skipped}) {
    if (text == to_string(label)) return label;
  }
  return std::nullopt;
}

std::string study_runs_head() { return head_of(kColumns.size()); }

std::string to_line(const StudyRun& run) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{:.6f}\t{}\t{}\t{}\t{}\t{}\t{}\n", run.number,
                     to_string(run.label), column_text(run.rule),
                     run.status ? fmt::format("{}", *run.status) : "", column_text(run.signal),
                     run.seconds, column_text(run.started), column_text(run.build), run.sparsity,
                     run.seed, column_text(run.command), column_text(run.version));
}

Result<std::vector<StudyRun>> read_study_runs(Bytes file, const std::string& name,
                                              ProblemLog& problems) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  std::string head = study_runs_head();
  if (!text.starts_with(head)) head = head_of(kFewestColumns);
  if (!text.starts_with(head)) {
    return std::unexpected(
        Error{Error::Cause::bad_magic, name, {}, "is not the list of a study's runs", 0});
  }
  std::vector<StudyRun> runs;
  for (size_t at = head.size(); at < text.size();) {
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos) {
      problems.add({Problem::Kind::torn_tail, at, name, "Run", "the file ends inside this row",
                    text.size() - at});
      break;
    }
    if (std::optional<StudyRun> run = parse_run(text.substr(at, end - at))) {
      runs.push_back(*std::move(run));
    } else {
      problems.add({Problem::Kind::corruption, at, name, "Run", "the row does not describe a run",
                    end + 1 - at});
    }
    at = end + 1;
  }
  // Of equal numbers the last stays.
  std::ranges::reverse(runs);
  sort_rows(runs, {}, &StudyRun::number);
  const auto doubles = std::ranges::unique(runs, {}, &StudyRun::number);
  if (!doubles.empty()) {
    problems.add(
        {Problem::Kind::oddity, 0, name, "Run",
         fmt::format("{} with the run number of a later row", counted(doubles.size(), "row")), 0});
  }
  runs.erase(doubles.begin(), doubles.end());
  return runs;
}

void label_slow(std::vector<StudyRun>& runs, double quantile) {
  const auto counts = [](const StudyRun& run) {
    return run.signal.empty() || run.rule == "timeout";
  };
  std::map<std::string, std::vector<double>> times;  // by build
  for (const StudyRun& run : runs) {
    if (counts(run)) times[run.build].push_back(run.seconds);
  }
  std::map<std::string, double> limits;
  for (auto& [build, seconds] : times) {
    std::ranges::sort(seconds);
    // The nearest rank.
    const double rank = std::ceil(quantile * static_cast<double>(seconds.size()));
    limits[build] = seconds[static_cast<size_t>(std::max(rank, 1.0)) - 1];
  }
  for (StudyRun& run : runs) {
    if (!counts(run)) {
      run.label = RunLabel::skipped;
    } else {
      run.label = run.seconds > limits[run.build] ? RunLabel::failed : RunLabel::passed;
    }
    run.rule = "slow";
  }
}

std::string study_runs_path(const std::string& folder) {
  return (fs::path(folder) / "runs.tsv").string();
}

bool is_study(const std::string& folder) {
  std::error_code failure;
  return fs::is_regular_file(study_runs_path(folder), failure);
}

std::string study_report_path(const std::string& folder, uint64_t run) {
  return (fs::path(folder) / "reports" / fmt::format("{}.report", run)).string();
}

std::string study_paths_path(const std::string& folder, uint64_t run) {
  return (fs::path(folder) / "paths" / fmt::format("{}.core", run)).string();
}

std::string study_sites_folder(const std::string& folder) {
  return (fs::path(folder) / "sites").string();
}

std::string study_sites_path(const std::string& folder, const StudySites& of) {
  constexpr size_t kMostOfName = 100;
  std::string name = of.build;
  if (!of.library.empty()) name += "." + of.library.substr(0, kMostOfName);
  return (fs::path(study_sites_folder(folder)) / (name + ".sites")).string();
}

StudySites study_sites_of(const std::string& path) {
  const std::string name = fs::path(path).stem().string();
  const size_t dot = std::min(name.find('.'), name.size());  // ids have none
  return {name.substr(0, dot), name.substr(std::min(dot + 1, name.size()))};
}

Result<std::vector<std::string>> study_sites(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code failure;
  fs::directory_iterator at(study_sites_folder(folder), failure);
  for (; !failure && at != fs::directory_iterator(); at.increment(failure)) {
    if (at->path().extension() == ".sites") paths.push_back(at->path().string());
  }
  if (failure) return io_error(study_sites_folder(folder), "cannot be listed", failure.value());
  sort_rows(paths);
  return paths;
}

}  // namespace telltale
