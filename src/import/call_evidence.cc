#include "import/call_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "analysis/isolation/threshold.h"
#include "base/parallel.h"
#include "import/format_descriptor.h"
#include "import/timed_calls.h"
#include "model/waiting.h"
#include "output/table/show_units.h"

namespace telltale {
namespace {

using isolation::best_threshold;
using isolation::LabelledValue;
using isolation::ObservedSite;
using isolation::RunEvidence;
using isolation::SiteTable;

// What a run did with a function.
struct FunctionUse {
  uint64_t calls = 0;
  std::optional<uint64_t> longest_ns;  // of the calls that ended; none: none did
};
struct FunctionPlace {
  std::string file;
  uint64_t line = 0;
};
// By name.
using Uses = std::map<std::string, FunctionUse>;
using Places = std::map<std::string, FunctionPlace>;

struct ReadRun {
  std::optional<Uses> uses;  // none: could not be read
  Places places;
  ProblemLog problems;
  std::optional<Error> error;
};

ReadRun read_run(const RunRecording& run, const OpenRecording& open) {
  ReadRun read;
  const auto recording = open(run);
  if (!recording) {
    read.problems.add({Problem::Kind::loss, 0, run.path, "recording", recording.error().detail, 0});
    return read;
  }
  const TimedCalls* calls = (*recording)->timed_calls();
  if (calls == nullptr) {
    read.error = usage_error(fmt::format("{} is {}, which has no timed calls", run.path,
                                         (*recording)->noun()))
                     .error();
    return read;
  }
  read.problems.merge((*recording)->problems());
  ProfileOptions options;
  options.workers = 1;
  Uses& uses = read.uses.emplace();
  for (const FunctionProfile& row : calls->profile(options, read.problems).functions) {
    if (row.function == kWaiting) continue;  // not behaviour of the program
    const FunctionInfo& info = calls->functions().describe(row.function);
    const uint64_t count = row.calls + row.unfinished;
    if (count == 0) continue;
    FunctionUse& use = uses[info.name];
    use.calls += count;
    // A call that a crash has ended is no short one.
    if (row.calls != 0)
      use.longest_ns = std::max(use.longest_ns.value_or(0), calls->clock().to_ns(row.max));
    if (!info.file.empty()) read.places[info.name] = {info.file, info.line};
  }
  return read;
}

// Three groups of as many sites as functions: called, called more than n times, longer than t.
class CallPredicates final : public PredicateSet {
 public:
  struct Function {
    std::string name;
    FunctionPlace place;
    std::optional<uint64_t> most_calls;  // n; none: all runs called it as often
    std::optional<uint64_t> longest_ns;  // t
  };
  explicit CallPredicates(std::vector<Function> functions) : functions_(std::move(functions)) {
    const auto count = static_cast<uint32_t>(functions_.size());
    table_.add({count, 1, false, true});
    table_.add({count, 2, false, false});
    table_.add({count, 2, false, false});
  }

  [[nodiscard]] const SiteTable& table() const override { return table_; }
  [[nodiscard]] PredicateWords describe(uint32_t predicate) const override {
    const uint32_t site = table_.site_of(predicate);
    const uint32_t group = table_.group_of(site);
    const Function& function = functions_[site - table_.first_site(group)];
    const bool above = predicate != table_.first_predicate(site);
    PredicateWords words;
    words.file = function.place.file;
    words.line = function.place.line;
    words.function = function.name;
    if (group == 0) {
      words.scheme = "calls";
      words.text = fmt::format("{} called", function.name);
    } else if (group == 1) {
      words.scheme = "call-counts";
      words.text = fmt::format("{} called {} {} times", function.name,
                               above ? "more than" : "at most", function.most_calls.value_or(0));
    } else {
      words.scheme = "call-times";
      words.text =
          fmt::format("{} of {} took longer than {}", above ? "a call" : "no call", function.name,
                      show_duration(static_cast<double>(function.longest_ns.value_or(0))));
    }
    return words;
  }

  [[nodiscard]] RunEvidence observe(const Uses& uses) const {
    std::vector<ObservedSite> observed;
    const auto count = static_cast<uint32_t>(functions_.size());
    for (const uint32_t group : {0U, 1U, 2U}) {
      for (uint32_t i = 0; i < count; ++i) {
        const auto use = uses.find(functions_[i].name);
        const bool called = use != uses.end();
        const uint32_t site = table_.first_site(group) + i;
        const auto compare = [&](uint64_t value, const std::optional<uint64_t>& threshold) {
          if (threshold) observed.push_back({site, value > *threshold ? 2U : 1U});
        };
        if (group == 0 && called) observed.push_back({site, 1});
        if (group == 1) compare(called ? use->second.calls : 0, functions_[i].most_calls);
        if (group == 2 && called && use->second.longest_ns)
          compare(*use->second.longest_ns, functions_[i].longest_ns);
      }
    }
    return {observed, {0, 1, 2}};
  }

 private:
  std::vector<Function> functions_;
  SiteTable table_;
};

// The functions of all runs, by name, with the numbers that separate the runs best.
std::vector<CallPredicates::Function> find_functions(const std::vector<ReadRun>& runs,
                                                     std::span<const RunRecording> recordings) {
  struct Values {
    std::vector<LabelledValue> calls;  // of runs that called it
    std::vector<LabelledValue> longest_ns;
    FunctionPlace place;
  };
  std::map<std::string, Values> by_name;
  size_t failing = 0;
  size_t successful = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].uses) continue;
    const bool failed = recordings[i].failed;
    ++(failed ? failing : successful);
    for (const auto& [name, use] : *runs[i].uses) {
      Values& values = by_name[name];
      values.calls.push_back({use.calls, failed});
      if (use.longest_ns) values.longest_ns.push_back({*use.longest_ns, failed});
    }
    for (const auto& [name, place] : runs[i].places) by_name[name].place = place;
  }
  std::vector<CallPredicates::Function> functions;
  for (auto& [name, values] : by_name) {
    const auto called_in = [&](bool failed) {
      return static_cast<size_t>(std::ranges::count(values.calls, failed, &LabelledValue::failed));
    };
    // Runs that did not call it called it 0 times.
    const size_t failing_without = failing - called_in(true);
    const size_t successful_without = successful - called_in(false);
    values.calls.insert(values.calls.end(), failing_without, {0, true});
    values.calls.insert(values.calls.end(), successful_without, {0, false});
    CallPredicates::Function function{name, values.place, best_threshold(std::move(values.calls)),
                                      best_threshold(std::move(values.longest_ns))};
    // "More than 0 times" is "called".
    if (function.most_calls == 0) function.most_calls.reset();
    functions.push_back(std::move(function));
  }
  return functions;
}

}  // namespace

Result<RecordingEvidence> read_call_evidence(std::span<const RunRecording> recordings,
                                             const OpenRecording& open, size_t workers) {
  std::vector<ReadRun> read(recordings.size());
  parallel_for(recordings.size(), worker_count(workers),
               [&](size_t i, size_t) { read[i] = read_run(recordings[i], open); });
  RecordingEvidence evidence;
  for (const ReadRun& run : read) {
    if (run.error) return std::unexpected(*run.error);
    evidence.problems.merge(run.problems);
  }
  auto predicates = std::make_unique<CallPredicates>(find_functions(read, recordings));
  for (size_t i = 0; i < read.size(); ++i) {
    if (read[i].uses) {
      evidence.recording_of_run.push_back(i);
      evidence.runs.push_back({predicates->observe(*read[i].uses), recordings[i].failed});
    } else {
      ++evidence.without_report;
    }
  }
  evidence.predicates = std::move(predicates);
  return evidence;
}

}  // namespace telltale
