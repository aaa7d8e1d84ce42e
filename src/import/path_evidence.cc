#include "import/path_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/paths/frame_coverage.h"
#include "import/read_runs.h"
#include "import/stack_paths.h"

namespace telltale {
namespace {

using isolation::ObservedSite;
using isolation::RunEvidence;
using isolation::SiteTable;

// What a run can have done, in the order of the groups of sites.
enum class Kind : uint8_t { kTookPath, kStoppedOnPath, kRanInCall, kRanInProcess };
constexpr std::array kKinds = {Kind::kTookPath, Kind::kStoppedOnPath, Kind::kRanInCall,
                               Kind::kRanInProcess};

using Function = std::pair<std::string, std::string>;  // name and file
using Place = std::pair<std::string, uint32_t>;        // file and line

// A path of a function, or a line of one.
struct Deed {
  Function function;
  std::vector<Place> places;  // of a path in the order that they ran
  auto operator<=>(const Deed&) const = default;
};

// What a run did. Functions that are decoded did not take the paths that are not listed.
struct Deeds {
  std::array<std::map<Deed, Ran>, kKinds.size()> known;
  std::set<Function> decoded;

  void add(Kind kind, Deed deed, Ran done) {
    const auto [known_deed, is_new] =
        known[static_cast<size_t>(kind)].try_emplace(std::move(deed), done);
    if (!is_new) known_deed->second = any_of(known_deed->second, done);
  }
  [[nodiscard]] Ran find(Kind kind, const Deed& deed) const {
    const auto& all = known[static_cast<size_t>(kind)];
    if (const auto found = all.find(deed); found != all.end()) return found->second;
    const bool is_path = kind == Kind::kTookPath || kind == Kind::kStoppedOnPath;
    return is_path && decoded.contains(deed.function) ? Ran::no : Ran::maybe;
  }
};

std::vector<Place> places_of(const PathGraph& graph, const std::string& file, uint32_t node) {
  const PathGraph::Block& block = graph.blocks[node];
  std::vector<Place> places;
  for (const PathGraph::Place& place : block.places) {
    if (place.line != 0 && place.scope < graph.scopes.size())
      places.emplace_back(graph.scopes[place.scope].file, place.line);
  }
  if (!block.places.empty()) return places;
  for (const uint32_t line : block.lines) {
    if (line != 0) places.emplace_back(file, line);
  }
  return places;
}

std::vector<Place> places_of(const PathGraph& graph, const std::string& file,
                             std::span<const uint32_t> path) {
  std::vector<Place> places;
  for (const uint32_t node : path) {
    for (Place& place : places_of(graph, file, node)) {
      if (places.empty() || places.back() != place) places.push_back(std::move(place));
    }
  }
  return places;
}

void add_frame(const FramePaths& frame, Deeds& deeds) {
  if (frame.decoded.size() != 1) return;
  const FramePaths::Decoded& decoded = frame.decoded.front();
  const PathGraph& graph = *decoded.graph;
  const PathHistory& history = decoded.history;
  // Only what is certain.
  if (graph.calls_setjmp || !history.contradiction.empty() || history.readings.size() != 1) return;
  const std::string& file = graph.scopes.empty() ? frame.file : graph.scopes.front().file;
  const Function function{frame.function, file};
  deeds.decoded.insert(function);
  const PathHistory::Reading& reading = history.readings.front();
  for (size_t i = 0; i < reading.completed; ++i) {
    deeds.add(Kind::kTookPath, {function, places_of(graph, file, history.completed[i].blocks)},
              Ran::yes);
  }
  deeds.add(Kind::kStoppedOnPath, {function, places_of(graph, file, reading.partial)}, Ran::yes);
  const std::vector<Ran> ran = blocks_of_frame(graph, history);
  for (uint32_t node = 0; node < ran.size(); ++node) {
    if (node == kExitNode) continue;
    for (const Place& place : places_of(graph, file, node))
      deeds.add(Kind::kRanInCall, {function, {place}}, ran[node]);
  }
}

using PathRuns = std::vector<ReadRun<Deeds>>;

Result<Deeds> read_deeds(const Recording&, const StackPaths& stacks, ProblemLog& problems) {
  const auto threads = stacks.thread_paths(problems);
  if (!threads) return std::unexpected(threads.error());
  ProblemLog known;  // the same problems again
  const auto coverage = stacks.coverage(known);
  if (!coverage) return std::unexpected(coverage.error());
  Deeds deeds;
  for (const ThreadPaths& thread : *threads) {
    for (const FramePaths& frame : thread.frames) add_frame(frame, deeds);
  }
  for (const FunctionCoverage& function : *coverage) {
    for (const auto& [place, ran] : function.lines)
      deeds.add(Kind::kRanInProcess, {{function.function, function.file}, {place}}, ran);
  }
  return deeds;
}

// A site for each deed of any run. Counter 0: the run did not do it; counter 1: it did.
class PathPredicates final : public PredicateSet {
 public:
  explicit PathPredicates(const PathRuns& runs) {
    for (const Kind kind : kKinds) {
      std::set<Deed> deeds;
      for (const ReadRun<Deeds>& run : runs) {
        if (!run.facts) continue;
        for (const auto& [deed, done] : run.facts->known[static_cast<size_t>(kind)])
          deeds.insert(deed);
      }
      table_.add({static_cast<uint32_t>(deeds.size()), 2, false, false});
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
      case Kind::kTookPath:
        words.scheme = "paths";
        words.text = fmt::format("{} {} path {}", name, done ? "took" : "did not take", lines);
        break;
      case Kind::kStoppedOnPath:
        words.scheme = "last-path";
        words.text = fmt::format("{} {} stopped on path {}", name, done ? "was" : "was not", lines);
        break;
      case Kind::kRanInCall:
        words.scheme = "lines-of-call";
        words.text = fmt::format("{} {} line {} in a call on the stack", name,
                                 done ? "ran" : "did not run", lines);
        break;
      case Kind::kRanInProcess:
        words.scheme = "lines";
        words.text = fmt::format("line {} {}", lines, done ? "ran" : "did not run");
        break;
    }
    return words;
  }

  [[nodiscard]] RunEvidence observe(const Deeds& run) const {
    std::vector<ObservedSite> observed;
    for (uint32_t site = 0; site < deeds_.size(); ++site) {
      const auto& [kind, deed] = deeds_[site];
      const Ran done = run.find(kind, deed);
      if (done != Ran::maybe) observed.push_back({site, done == Ran::yes ? 2U : 1U});
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

}  // namespace

Result<RecordingEvidence> read_path_evidence(std::span<const RunRecording> recordings,
                                             const OpenRecording& open, size_t workers) {
  const PathRuns runs = read_runs<Deeds>(recordings, open, workers, Capability::paths_in_frames,
                                         &Recording::paths_in_frames, read_deeds);
  if (const Error* error = first_error(runs)) return std::unexpected(*error);
  return observe_runs(runs, recordings, std::make_unique<const PathPredicates>(runs));
}

}  // namespace telltale
