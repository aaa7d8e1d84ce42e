#include "import/path_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "import/read_runs.h"
#include "import/stack_paths.h"

namespace telltale {
namespace {

using isolation::ObservedSite;
using isolation::RunEvidence;
using isolation::SiteTable;

using Deed = PathFacts::Deed;
using Kind = PathFacts::Kind;
using Said = PathFacts::Said;

Result<PathFacts> read_facts(const Recording&, const StackPaths& stacks, ProblemLog& problems) {
  return read_path_facts(stacks, problems);
}

// A site for each deed of any run. Counter 0: the run did not do it; counter 1: it did; counter 2:
// not yet, which is an observation of the site, but says neither.
class PathPredicates final : public PredicateSet {
 public:
  explicit PathPredicates(std::span<const PathRun> runs) {
    for (const Kind kind : PathFacts::kKinds) {
      std::set<Deed> deeds;
      for (const PathRun& run : runs) {
        if (!run.facts) continue;
        for (const auto& [deed, done] : run.facts->of(kind)) deeds.insert(deed);
      }
      table_.add({.sites = static_cast<uint32_t>(deeds.size()), .counters = 3, .silent = 1});
      for (const Deed& deed : deeds) deeds_.emplace_back(kind, deed);
    }
  }

  [[nodiscard]] const SiteTable& table() const override { return table_; }

  [[nodiscard]] PredicateWords describe(uint32_t predicate) const override {
    const uint32_t site = table_.site_of(predicate);
    const bool done = predicate != table_.first_predicate(site);
    const auto& [kind, deed] = deeds_[site];
    PredicateWords words;
    words.function = deed.function.first;
    words.file = deed.function.second;
    if (!deed.places.empty()) std::tie(words.file, words.line) = deed.places.front();
    const std::string_view name = words.function;
    const std::string lines = text_of(deed);
    switch (kind) {
      case Kind::took_path:
        words.scheme = "paths";
        words.text = fmt::format("{} {} path {}", name, done ? "took" : "did not take", lines);
        break;
      case Kind::followed_path:
        words.scheme = "last-path";
        words.text =
            fmt::format("{} {} path {}", name, done ? "followed" : "did not follow", lines);
        break;
      case Kind::ran_in_call:
        words.scheme = "lines-of-call";
        words.text = fmt::format("{} {} line {} in a call on the stack", name,
                                 done ? "ran" : "did not run", lines);
        break;
      case Kind::ran_in_process:
        words.scheme = "lines";
        words.text = fmt::format("line {} {}", lines, done ? "ran" : "did not run");
        break;
    }
    return words;
  }

  [[nodiscard]] RunEvidence observe(const PathFacts& run) const {
    std::vector<ObservedSite> observed;
    for (uint32_t site = 0; site < deeds_.size(); ++site) {
      const auto& [kind, deed] = deeds_[site];
      const Said done = run.find(kind, deed);
      if (done == Said::maybe) continue;
      observed.push_back({site, done == Said::no ? 1U : done == Said::yes ? 2U : 4U});
    }
    return {observed, {0, 1, 2, 3}};
  }

 private:
  // "8 9 util.h:3 10": the file where it is another one than the function's.
  static std::string text_of(const Deed& deed) {
    std::string text;
    for (const auto& [file, line] : deed.places) {
      if (!text.empty()) text += ' ';
      if (file != deed.function.second) text += file.substr(file.rfind('/') + 1) + ':';
      text += std::to_string(line);
    }
    return text.empty() ? "without lines" : text;
  }

  std::vector<std::pair<Kind, Deed>> deeds_;  // by site
  SiteTable table_;
};

// Whether the run says of anything that it did not do it.
bool denies_something(const PathFacts& run) {
  return !run.decoded.empty() || std::ranges::any_of(run.known, [](const auto& deeds) {
    return std::ranges::any_of(deeds, [](const auto& deed) { return deed.second == Said::no; });
  });
}

bool passed_deny_nothing(std::span<const PathRun> runs, std::span<const RunRecording> recordings) {
  bool any = false;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (recordings[i].failed || !runs[i].facts) continue;
    if (denies_something(*runs[i].facts)) return false;
    any = true;
  }
  return any;
}

}  // namespace

RecordingEvidence path_evidence(std::vector<PathRun> runs, std::span<const RunRecording> recordings,
                                const SiteFiles& files) {
  std::set<std::string> known;
  for (const PathRun& run : runs) {
    if (run.facts && !files.empty()) collect_files(*run.facts, known);
  }
  const SiteFileNames names(files, known);
  for (PathRun& run : runs) {
    if (run.facts && !names.empty()) rename_files(names, *run.facts);
  }
  RecordingEvidence evidence =
      observe_runs(runs, recordings, std::make_unique<const PathPredicates>(runs));
  evidence.passed_deny_nothing = passed_deny_nothing(runs, recordings);
  return evidence;
}

PathRun read_path_run(const RunRecording& recording, const OpenRecording& open) {
  return read_run<PathFacts>(recording, open, Capability::paths_in_frames,
                             &Recording::paths_in_frames, read_facts);
}

Result<RecordingEvidence> read_path_evidence(std::span<const RunRecording> recordings,
                                             const OpenRecording& open, size_t workers,
                                             const SiteFiles& files) {
  auto runs = read_runs<PathFacts>(recordings, open, workers, Capability::paths_in_frames,
                                   &Recording::paths_in_frames, read_facts);
  if (const Error* error = first_error<PathFacts>(runs)) return std::unexpected(*error);
  return path_evidence(std::move(runs), recordings, files);
}

}  // namespace telltale
