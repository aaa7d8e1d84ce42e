#include "import/path_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "import/known_lines.h"
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

// A run's facts; what they say of lines is separate.
struct RunFacts {
  PathFacts facts;
  KnownLines::OfRun lines;
};
using Run = ReadRun<RunFacts>;

RunFacts number_lines(SeparateFacts facts, KnownLines& lines) {
  return {.facts = std::move(facts.facts), .lines = lines.add(facts.lines)};
}

RunFacts number_lines(PathFacts stored, KnownLines& lines) {
  KnownLines::OfRun numbers = lines.add(stored.of(Kind::ran_in_process));
  stored.of(Kind::ran_in_process).clear();
  return {.facts = std::move(stored), .lines = std::move(numbers)};
}

// A site for each deed of any run. Counter 0: the run did not do it; counter 1: it did; counter 2:
// not yet, which is an observation of the site, but says neither.
class PathPredicates final : public PredicateSet {
 public:
  PathPredicates(std::span<const Run> runs, std::vector<Deed> lines) {
    for (const Kind kind : PathFacts::kKinds) {
      std::set<Deed> deeds;
      if (kind == Kind::ran_in_process) {
        first_line_ = static_cast<uint32_t>(deeds_.size());
        deeds.insert(std::move_iterator(lines.begin()), std::move_iterator(lines.end()));
      }
      for (const Run& run : runs) {
        if (!run.facts) continue;
        for (const auto& [deed, done] : run.facts->facts.of(kind)) deeds.insert(deed);
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

  [[nodiscard]] RunEvidence observe(const RunFacts& run) const {
    std::vector<ObservedSite> observed;
    const auto add = [&](uint32_t site, Said done) {
      if (done == Said::maybe) return;
      observed.push_back({site, done == Said::no ? 1U : done == Said::yes ? 2U : 4U});
    };
    for (uint32_t site = 0; site < first_line_; ++site) {
      const auto& [kind, deed] = deeds_[site];
      add(site, run.facts.find(kind, deed));
    }
    for (const KnownLines::Line& line : run.lines) add(first_line_ + line.number, line.said);
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

  std::vector<std::pair<Kind, Deed>> deeds_;  // by site; those of lines are the last
  uint32_t first_line_ = 0;                   // site
  SiteTable table_;
};

// Whether the run says of anything that it did not do it.
bool denies_something(const RunFacts& run) {
  return !run.facts.decoded.empty() || std::ranges::any_of(run.lines, [](const auto& line) {
    return line.said == Said::no;
  }) || std::ranges::any_of(run.facts.known, [](const auto& deeds) {
    return std::ranges::any_of(deeds, [](const auto& deed) { return deed.second == Said::no; });
  });
}

// Sets passed_deny_nothing and passed_have_lines.
void look_at_passed(std::span<const Run> runs, std::span<const RunRecording> recordings,
                    RecordingEvidence& evidence) {
  for (size_t i = 0; i < runs.size(); ++i) {
    if (recordings[i].failed || !runs[i].facts) continue;
    if (denies_something(*runs[i].facts)) {
      evidence.passed_deny_nothing = false;
      return;
    }
    evidence.passed_deny_nothing = true;
    evidence.passed_have_lines = evidence.passed_have_lines || !runs[i].facts->lines.empty();
  }
}

RecordingEvidence evidence_of(std::vector<Run> runs, std::span<const RunRecording> recordings,
                              const SiteFiles& files, KnownLines& lines) {
  std::set<std::string> known;
  if (!files.empty()) lines.collect_files(known);
  for (const Run& run : runs) {
    if (run.facts && !files.empty()) collect_files(run.facts->facts, known);
  }
  const SiteFileNames names(files, known);
  std::vector<Deed> sorted = lines.take(names);
  for (Run& run : runs) {
    if (!run.facts) continue;
    if (!names.empty()) rename_files(names, run.facts->facts);
    lines.sort(run.facts->lines);
  }
  RecordingEvidence evidence = observe_runs(
      runs, recordings, std::make_unique<const PathPredicates>(runs, std::move(sorted)));
  look_at_passed(runs, recordings, evidence);
  return evidence;
}

}  // namespace

RecordingEvidence path_evidence(std::vector<PathRun> runs, std::span<const RunRecording> recordings,
                                const SiteFiles& files) {
  KnownLines lines;
  std::vector<Run> separated;
  for (PathRun& run : runs) {
    Run& each = separated.emplace_back();
    if (run.facts) each.facts = number_lines(*std::exchange(run.facts, std::nullopt), lines);
    each.problems = std::move(run.problems);
    each.error = std::move(run.error);
  }
  return evidence_of(std::move(separated), recordings, files, lines);
}

PathRun read_path_run(const RunRecording& recording, const OpenRecording& open) {
  const auto read = [](const Recording&, const StackPaths& stacks, ProblemLog& problems) {
    return read_path_facts(stacks, problems);
  };
  return read_run<PathFacts>(recording, open, Capability::paths_in_frames,
                             &Recording::paths_in_frames, read);
}

Result<RecordingEvidence> read_path_evidence(std::span<const RunRecording> recordings,
                                             const OpenRecording& open, size_t workers,
                                             const SiteFiles& files) {
  KnownLines lines;
  const auto read = [&](const Recording&, const StackPaths& stacks,
                        ProblemLog& problems) -> Result<RunFacts> {
    Result<SeparateFacts> facts = read_separate_facts(stacks, problems);
    if (!facts) return std::unexpected(facts.error());
    return number_lines(*std::move(facts), lines);
  };
  auto runs = read_runs<RunFacts>(recordings, open, workers, Capability::paths_in_frames,
                                  &Recording::paths_in_frames, read);
  if (const Error* error = first_error<RunFacts>(runs)) return std::unexpected(*error);
  return evidence_of(std::move(runs), recordings, files, lines);
}

}  // namespace telltale
