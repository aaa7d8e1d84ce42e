#include "model/probe_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

namespace telltale {
namespace {

using Graph = std::vector<std::vector<uint32_t>>;

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  uint32_t operator()() { return static_cast<uint32_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

ProbeProblem problem_of(Graph successors) {
  const size_t count = successors.size();
  return {.successors = std::move(successors),
          .may_stop = std::vector<bool>(count, true),
          .wanted = std::vector<bool>(count, true),
          .can_probe = std::vector<bool>(count, true),
          .cost = std::vector<double>(count, 1.0)};
}

size_t count_of(const std::vector<bool>& probes) {
  return static_cast<size_t>(std::count(probes.begin(), probes.end(), true));
}

double cost_of(const ProbeProblem& problem, const std::vector<bool>& probes) {
  double sum = 0;
  for (size_t i = 0; i < probes.size(); ++i) sum += probes[i] ? problem.cost[i] : 0;
  return sum;
}

// Tries all runs: what is known of a run is where it stopped, and the probes that it passed.
bool tells_by_all_runs(const ProbeProblem& problem, const std::vector<bool>& probes) {
  using State = std::pair<uint32_t, uint32_t>;  // block; blocks that were passed
  std::set<State> seen = {{0, 1}};
  std::vector<State> pending(seen.begin(), seen.end());
  const auto mask = [](const std::vector<bool>& members) {
    uint32_t set = 0;
    for (size_t i = 0; i < members.size(); ++i) set |= members[i] ? 1U << i : 0;
    return set;
  };
  std::map<State, uint32_t> wanted_of;
  while (!pending.empty()) {
    const auto [block, passed] = pending.back();
    pending.pop_back();
    if (problem.may_stop[block]) {
      const auto [known, is_new] =
          wanted_of.emplace(State{block, passed & mask(probes)}, passed & mask(problem.wanted));
      if (!is_new && known->second != (passed & mask(problem.wanted))) return false;
    }
    for (const uint32_t next : problem.successors[block]) {
      const State state{next, passed | 1U << next};
      if (seen.insert(state).second) pending.push_back(state);
    }
  }
  return true;
}

// A graph whose blocks can all be reached from block 0, to which none leads.
Graph random_graph(Random& random, uint32_t count) {
  Graph graph(count);
  for (uint32_t i = 1; i < count; ++i) graph[random() % i].push_back(i);
  for (uint32_t extra = random() % (count + 2); extra-- > 0;)
    graph[random() % count].push_back(1 + random() % (count - 1));
  return graph;
}

ProbeProblem random_problem(Random& random, uint32_t count) {
  ProbeProblem problem = problem_of(random_graph(random, count));
  const bool stops_at_ends = random() % 3 == 0;
  const bool some_wanted = random() % 2 == 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (stops_at_ends) problem.may_stop[i] = problem.successors[i].empty();
    if (some_wanted) problem.wanted[i] = problem.can_probe[i] = random() % 2 == 0;
    problem.cost[i] = 1.0 + random() % 8;
  }
  return problem;
}

TEST(ProbePlacement, ADiamondNeedsAProbeOnEachSideUnlessItStopsThere) {
  // Stopped at the join, only probes tell the side; one is enough.
  const ProbeProblem diamond = problem_of({{1, 2}, {3}, {3}, {}});
  EXPECT_EQ(count_of(place_probes(diamond, ProbeStyle::kEvery)), 4U);
  EXPECT_EQ(place_probes(diamond, ProbeStyle::kSimple), (std::vector<bool>{0, 1, 1, 0}));
  EXPECT_EQ(count_of(place_probes(diamond, ProbeStyle::kLocal)), 1U);
  EXPECT_EQ(count_of(place_probes(diamond, ProbeStyle::kExact)), 1U);
}

TEST(ProbePlacement, TheMoreExpensiveProbeIsLeftOut) {
  ProbeProblem diamond = problem_of({{1, 2}, {3}, {3}, {}});
  diamond.cost = {1, 9, 2, 1};
  EXPECT_EQ(place_probes(diamond, ProbeStyle::kLocalPrepass), (std::vector<bool>{0, 0, 1, 0}));
}

TEST(ProbePlacement, AStraightFunctionNeedsNone) {
  EXPECT_EQ(count_of(place_probes(problem_of({{1}, {2}, {}}), ProbeStyle::kSimple)), 0U);
}

TEST(ProbePlacement, TheCriterionAgreesWithAllRunsOfSmallGraphs) {
  Random random(7);
  size_t enough = 0;
  size_t tried = 0;
  for (int i = 0; i < 400; ++i) {
    const ProbeProblem problem = random_problem(random, 2 + random() % 5);
    for (int sets = 0; sets < 10; ++sets) {
      std::vector<bool> probes(problem.wanted.size());
      for (size_t block = 0; block < probes.size(); ++block)
        probes[block] = problem.can_probe[block] && random() % 2 == 0;
      const bool tells = tells_by_all_runs(problem, probes);
      EXPECT_EQ(determines_wanted(problem, probes), tells) << i << ' ' << sets;
      enough += tells ? 1 : 0;
      ++tried;
    }
  }
  EXPECT_GT(enough, tried / 10);
  EXPECT_LT(enough, tried * 9 / 10);
}

TEST(ProbePlacement, EveryStyleIsEnoughAndTheExactOneIsTheLeast) {
  Random random(11);
  for (int i = 0; i < 300; ++i) {
    const ProbeProblem problem = random_problem(random, 2 + random() % 6);
    const size_t count = problem.wanted.size();
    double least = 1e9;
    for (uint32_t set = 0; set < 1U << count; ++set) {
      std::vector<bool> probes(count);
      bool possible = true;
      for (size_t block = 0; block < count; ++block) {
        probes[block] = (set >> block & 1) != 0;
        possible = possible && (!probes[block] || problem.can_probe[block]);
      }
      if (possible && tells_by_all_runs(problem, probes))
        least = std::min(least, cost_of(problem, probes));
    }
    double before = 1e9;
    for (const ProbeStyle style :
         {ProbeStyle::kEvery, ProbeStyle::kSimple, ProbeStyle::kLocalPrepass, ProbeStyle::kExact}) {
      const std::vector<bool> probes = place_probes(problem, style);
      EXPECT_TRUE(tells_by_all_runs(problem, probes)) << i << ' ' << static_cast<int>(style);
      EXPECT_LE(cost_of(problem, probes), before) << i << ' ' << static_cast<int>(style);
      before = cost_of(problem, probes);
    }
    EXPECT_EQ(before, least) << i;
    EXPECT_TRUE(tells_by_all_runs(problem, place_probes(problem, ProbeStyle::kLocal)));
  }
}

TEST(ProbePlacement, WithoutStepsTheProbesAreStillEnough) {
  Random random(13);
  for (int i = 0; i < 50; ++i) {
    const ProbeProblem problem = random_problem(random, 7);
    for (const uint64_t steps : {0, 1, 50, 400}) {
      for (const ProbeStyle style :
           {ProbeStyle::kLocal, ProbeStyle::kLocalPrepass, ProbeStyle::kExact})
        EXPECT_TRUE(tells_by_all_runs(problem, place_probes(problem, style, steps)));
    }
  }
}

TEST(ProbePlacement, ManyBlocksGetTheSimplePlacement) {
  Graph chain(300);
  for (uint32_t i = 0; i + 3 < chain.size(); i += 3) {
    chain[i] = {i + 1, i + 2};
    chain[i + 1] = chain[i + 2] = {i + 3};
  }
  const ProbeProblem problem = problem_of(chain);
  EXPECT_EQ(place_probes(problem, ProbeStyle::kExact), place_probes(problem, ProbeStyle::kSimple));
}

}  // namespace
}  // namespace telltale
