#include "import/call_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analysis/isolation/threshold.h"
#include "import/call_facts.h"
#include "import/read_runs.h"
#include "output/table/show_units.h"

namespace telltale {
namespace {

using isolation::best_threshold;
using isolation::LabelledValue;
using isolation::ObservedSite;
using isolation::RunEvidence;
using isolation::SiteTable;

// What distinguishes runs by their calls: the sites of all groups, and their predicates.
class CallPredicates final : public PredicateSet {
 public:
  struct Function {
    std::string name;
    CallFacts::Place place;
    std::optional<uint64_t> most_calls;  // n; none: no number separates the runs, or 0 does
    std::optional<uint64_t> longest_ns;  // t; likewise
  };
  // Sites besides those of functions, each in order.
  struct Others {
    std::vector<std::pair<std::string, std::string>> edges;  // caller, callee
    std::vector<std::string> unwound;                        // functions
    std::vector<std::string> thrown;                         // types
  };
  CallPredicates(std::vector<Function> functions, Others others)
      : functions_(std::move(functions)), others_(std::move(others)) {
    for (size_t i = 0; i < functions_.size(); ++i) {
      by_name_[functions_[i].name] = i;
      if (functions_[i].most_calls) counted_.push_back(i);
      if (functions_[i].longest_ns) timed_.push_back(i);
    }
    table_.add({static_cast<uint32_t>(functions_.size()), 1, false, true});
    table_.add({static_cast<uint32_t>(counted_.size()), 2, false, false});
    table_.add({static_cast<uint32_t>(timed_.size()), 2, false, false});
    table_.add({static_cast<uint32_t>(others_.edges.size()), 2, false, false});
    table_.add({static_cast<uint32_t>(others_.unwound.size()), 2, false, false});
    table_.add({static_cast<uint32_t>(others_.thrown.size()), 2, false, false});
  }

  [[nodiscard]] const SiteTable& table() const override { return table_; }

  [[nodiscard]] PredicateWords describe(uint32_t predicate) const override {
    const uint32_t site = table_.site_of(predicate);
    const uint32_t group = table_.group_of(site);
    const uint32_t at = site - table_.first_site(group);
    const bool yes = predicate != table_.first_predicate(site);
    switch (static_cast<Group>(group)) {
      case Group::kCalled:
        return words("calls", functions_[at].name, fmt::format("{} called", functions_[at].name));
      case Group::kCount:
        return describe_count(functions_[counted_[at]], yes);
      case Group::kTime:
        return describe_time(functions_[timed_[at]], yes);
      case Group::kEdge: {
        const auto& [caller, callee] = others_.edges[at];
        PredicateWords found =
            words("call-edges", caller,
                  fmt::format("{} {} {}", caller, yes ? "called" : "did not call", callee));
        found.callee = callee;
        return found;
      }
      case Group::kUnwound:
        return words("unwound", others_.unwound[at],
                     fmt::format("{} of {} was left by an exception or longjmp",
                                 yes ? "a call" : "no call", others_.unwound[at]));
      case Group::kThrown:
        return words("exceptions", "",
                     fmt::format("{} was {}thrown", others_.thrown[at], yes ? "" : "not "));
    }
    return {};
  }

  [[nodiscard]] RunEvidence observe(const CallFacts& run) const {
    std::vector<ObservedSite> observed;
    const auto add = [&](Group group, size_t at, bool yes) {
      observed.push_back({table_.first_site(static_cast<size_t>(group)) + static_cast<uint32_t>(at),
                          yes ? 2U : 1U});
    };
    const auto use_of = [&](const std::string& name) {
      const auto use = run.functions.find(name);
      return use == run.functions.end() ? nullptr : &use->second;
    };
    for (size_t i = 0; i < functions_.size(); ++i) {
      if (use_of(functions_[i].name) != nullptr) add(Group::kCalled, i, false);
    }
    for (size_t i = 0; i < counted_.size(); ++i) {
      const Function& function = functions_[counted_[i]];
      const CallFacts::Use* use = use_of(function.name);
      add(Group::kCount, i, (use == nullptr ? 0 : use->calls) > *function.most_calls);
    }
    for (size_t i = 0; i < timed_.size(); ++i) {
      const Function& function = functions_[timed_[i]];
      const CallFacts::Use* use = use_of(function.name);
      if (use != nullptr && use->longest_ns)
        add(Group::kTime, i, *use->longest_ns > *function.longest_ns);
    }
    for (size_t i = 0; i < others_.edges.size(); ++i) {
      if (use_of(others_.edges[i].first) != nullptr)
        add(Group::kEdge, i, run.edges.contains(others_.edges[i]));
    }
    for (size_t i = 0; i < others_.unwound.size(); ++i) {
      const CallFacts::Use* use = use_of(others_.unwound[i]);
      if (use != nullptr && use->longest_ns) add(Group::kUnwound, i, use->unwound != 0);
    }
    for (size_t i = 0; i < others_.thrown.size(); ++i) {
      if (run.thrown) add(Group::kThrown, i, run.thrown->contains(others_.thrown[i]));
    }
    return {observed, {0, 1, 2, 3, 4, 5}};
  }

 private:
  // In the order of the table's groups.
  enum class Group : uint8_t { kCalled, kCount, kTime, kEdge, kUnwound, kThrown };

  [[nodiscard]] PredicateWords words(std::string_view scheme, const std::string& function,
                                     std::string text) const {
    PredicateWords words;
    words.names_functions = true;
    words.scheme = scheme;
    words.function = function;
    words.text = std::move(text);
    if (const auto found = by_name_.find(function); found != by_name_.end()) {
      words.file = functions_[found->second].place.file;
      words.line = functions_[found->second].place.line;
    }
    return words;
  }

  [[nodiscard]] PredicateWords describe_count(const Function& function, bool more) const {
    const auto text = [&](std::string_view number) {
      return fmt::format("{} called {} {} times", function.name, more ? "more than" : "at most",
                         number);
    };
    PredicateWords found =
        words("call-counts", function.name, text(fmt::to_string(*function.most_calls)));
    found.text_without_number = text("N");
    return found;
  }
  [[nodiscard]] PredicateWords describe_time(const Function& function, bool longer) const {
    const auto text = [&](std::string_view time) {
      return fmt::format("{} of {} took longer than {}", longer ? "a call" : "no call",
                         function.name, time);
    };
    PredicateWords found = words("call-times", function.name,
                                 text(show_duration(static_cast<double>(*function.longest_ns))));
    found.text_without_number = text("N");
    return found;
  }

  std::vector<Function> functions_;
  std::vector<size_t> counted_;  // numbers of functions with most_calls
  std::vector<size_t> timed_;    // with longest_ns
  std::map<std::string, size_t> by_name_;
  Others others_;
  SiteTable table_;
};

using CallRuns = std::vector<ReadRun<CallFacts>>;

// The functions of all runs, by name, with the numbers that separate the runs best.
std::vector<CallPredicates::Function> find_functions(const CallRuns& runs,
                                                     std::span<const RunRecording> recordings) {
  struct Values {
    std::vector<LabelledValue> calls;  // of runs that called it
    std::vector<LabelledValue> longest_ns;
    CallFacts::Place place;
  };
  std::map<std::string, Values> by_name;
  size_t failing = 0;
  size_t successful = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].facts) continue;
    const bool failed = recordings[i].failed;
    ++(failed ? failing : successful);
    for (const auto& [name, use] : runs[i].facts->functions) {
      Values& values = by_name[name];
      values.calls.push_back({use.calls, failed});
      if (use.longest_ns) values.longest_ns.push_back({*use.longest_ns, failed});
    }
    for (const auto& [name, place] : runs[i].facts->places) by_name[name].place = place;
  }
  std::vector<CallPredicates::Function> functions;
  for (auto& [name, values] : by_name) {
    const auto called_in = [&](bool failed) {
      return static_cast<size_t>(std::ranges::count(values.calls, failed, &LabelledValue::failed));
    };
    // CallRuns that did not call it called it 0 times.
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

CallPredicates::Others find_others(const CallRuns& runs) {
  std::set<std::pair<std::string, std::string>> edges;
  std::set<std::string> unwound;
  std::set<std::string> thrown;
  for (const ReadRun<CallFacts>& run : runs) {
    if (!run.facts) continue;
    edges.insert(run.facts->edges.begin(), run.facts->edges.end());
    for (const auto& [name, use] : run.facts->functions) {
      if (use.unwound != 0) unwound.insert(name);
    }
    if (run.facts->thrown) thrown.insert(run.facts->thrown->begin(), run.facts->thrown->end());
  }
  std::map<std::string, size_t> callers;  // how many a function has
  for (const auto& [caller, callee] : edges) ++callers[callee];
  CallPredicates::Others others;
  // With one caller only, "a called b" says no more than "b called".
  std::ranges::copy_if(edges, std::back_inserter(others.edges),
                       [&](const auto& edge) { return callers[edge.second] > 1; });
  others.unwound.assign(unwound.begin(), unwound.end());
  others.thrown.assign(thrown.begin(), thrown.end());
  return others;
}

}  // namespace

Result<RecordingEvidence> read_call_evidence(std::span<const RunRecording> recordings,
                                             const OpenRecording& open, size_t workers) {
  const CallRuns runs = read_runs<CallFacts>(recordings, open, workers, Capability::timed_calls,
                                             &Recording::timed_calls, read_call_facts);
  if (const Error* error = first_error(runs)) return std::unexpected(*error);
  return observe_runs(
      runs, recordings,
      std::make_unique<const CallPredicates>(find_functions(runs, recordings), find_others(runs)));
}

}  // namespace telltale
