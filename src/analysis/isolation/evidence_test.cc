#include "analysis/isolation/evidence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace telltale::isolation {
namespace {

TEST(RunEvidence, GivesBackWhatWasObserved) {
  std::mt19937 random(7);
  std::uniform_int_distribution<uint32_t> distance(1, 900);
  std::uniform_int_distribution<uint32_t> counted(1, 0xFFFF);
  std::vector<ObservedSite> observed;
  for (uint32_t site = 0; site < 5 * RunEvidence::kBlockSites; site += distance(random))
    observed.push_back({site, counted(random)});
  // The ends of blocks, and a block that nothing was observed in.
  std::erase_if(observed, [](const ObservedSite& at) {
    return RunEvidence::block_of(at.site) == 2 || at.site == 3 * RunEvidence::kBlockSites - 1;
  });
  const RunEvidence run(observed, {0, 3});
  std::vector<ObservedSite> read;
  run.for_each([&](uint32_t site, uint32_t bits) { read.push_back({site, bits}); });
  ASSERT_EQ(read.size(), observed.size());
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].site, observed[i].site);
    EXPECT_EQ(read[i].counted, observed[i].counted);
    EXPECT_EQ(run.counted_at(observed[i].site), observed[i].counted);
  }
  EXPECT_EQ(run.counted_at(2 * RunEvidence::kBlockSites + 1), 0U);
  EXPECT_EQ(run.counted_at(100 * RunEvidence::kBlockSites), 0U);
  EXPECT_EQ(run.groups(), (std::vector<uint32_t>{0, 3}));
}

TEST(RunEvidence, ObservedAtTheEdgesOfBlocks) {
  const uint32_t block = RunEvidence::kBlockSites;
  const std::vector<ObservedSite> observed = {
      {0, 1}, {block - 1, 2}, {block, 4}, {3 * block - 1, 7}, {3 * block, 8}};
  const RunEvidence run(observed, {});
  for (const auto& [site, counted] : observed) EXPECT_EQ(run.counted_at(site), counted);
  EXPECT_EQ(run.counted_at(1), 0U);
  EXPECT_EQ(run.counted_at(2 * block), 0U);
}

TEST(RunEvidence, OfAnEmptyRun) {
  const RunEvidence run({}, {});
  run.for_each([](uint32_t, uint32_t) { FAIL(); });
  EXPECT_EQ(run.counted_at(0), 0U);
}

TEST(SiteTable, NumbersSitesAndPredicatesInOrder) {
  SiteTable sites;
  EXPECT_EQ(sites.add({2, 2, false, false}), 0U);  // 4 predicates
  EXPECT_EQ(sites.add({0, 3, true, false}), 2U);   // no site
  EXPECT_EQ(sites.add({3, 3, true, false}), 2U);   // 18 predicates
  EXPECT_EQ(sites.site_count(), 5U);
  EXPECT_EQ(sites.predicate_count(), 22U);
  EXPECT_EQ(sites.first_predicate(1), 2U);
  EXPECT_EQ(sites.first_predicate(4), 16U);
  EXPECT_EQ(sites.group_of(4), 2U);
  for (uint32_t predicate = 0; predicate < 22; ++predicate) {
    const uint32_t site = sites.site_of(predicate);
    EXPECT_LE(sites.first_predicate(site), predicate);
    EXPECT_LT(predicate,
              sites.first_predicate(site) + sites.groups()[sites.group_of(site)].predicates());
  }
}

TEST(SiteTable, ComplementsAreTrueIfAnotherCounterCounted) {
  SiteTable sites;
  sites.add({1, 3, true, false});
  // <, >=, ==, !=, >, <=
  EXPECT_EQ(sites.true_predicates(0, 0b001), 0b101001U);  // new < old: <, !=, <=
  EXPECT_EQ(sites.true_predicates(0, 0b010), 0b100110U);  // ==, >=, <=
  EXPECT_EQ(sites.true_predicates(0, 0b100), 0b011010U);  // >, >=, !=
  EXPECT_EQ(sites.true_predicates(0, 0b101), 0b111011U);  // each but ==
  EXPECT_EQ(sites.true_predicates(0, 0), 0U);
}

// Two branches, a triple and a statement; three runs.
class Tally : public ::testing::Test {
 protected:
  Tally() {
    sites_.add({2, 2, false, false});  // predicates 0..3
    sites_.add({1, 3, true, false});   // 4..9
    sites_.add({1, 1, false, true});   // 10
    runs_.push_back(
        {RunEvidence(std::vector<ObservedSite>{{0, 2}, {2, 1}, {3, 1}}, {0, 1, 2}), true});
    runs_.push_back({RunEvidence(std::vector<ObservedSite>{{0, 3}, {1, 1}}, {0, 1, 2}), false});
    runs_.push_back({RunEvidence(std::vector<ObservedSite>{{0, 1}}, {0}), false});
    for (const LabelledRun& run : runs_) all_.push_back(&run);
  }

  SiteTable sites_;
  std::vector<LabelledRun> runs_;
  std::vector<const LabelledRun*> all_;
};

TEST_F(Tally, CountsRunsNotObservations) {
  PredicateTally tally(sites_);
  tally.add(all_, 1);
  EXPECT_EQ(tally.runs(), (RunCounts{1, 2}));
  EXPECT_EQ(tally.of(0), (PredicateCounts{{0, 2}, {1, 2}}));  // FALSE
  EXPECT_EQ(tally.of(1), (PredicateCounts{{1, 1}, {1, 2}}));  // TRUE
  EXPECT_EQ(tally.of(2), (PredicateCounts{{0, 1}, {0, 1}}));
  EXPECT_EQ(tally.of(4), (PredicateCounts{{1, 0}, {1, 0}}));  // <
  EXPECT_EQ(tally.of(5), (PredicateCounts{{0, 0}, {1, 0}}));  // >=
  EXPECT_EQ(tally.of(7), (PredicateCounts{{1, 0}, {1, 0}}));  // !=
  // The statement ran in one run, and two runs tell of its unit.
  EXPECT_EQ(tally.of(10), (PredicateCounts{{1, 0}, {1, 1}}));
}

TEST_F(Tally, RunsAreTakenBackAndRelabelled) {
  PredicateTally tally(sites_);
  tally.add(all_, 2);
  tally.relabel(std::vector<const LabelledRun*>{all_.data(), all_.data() + 1}, 1);
  EXPECT_EQ(tally.runs(), (RunCounts{0, 3}));
  EXPECT_EQ(tally.of(1), (PredicateCounts{{0, 2}, {0, 3}}));
  EXPECT_EQ(tally.of(10), (PredicateCounts{{0, 1}, {0, 2}}));
  tally.remove(std::vector<const LabelledRun*>{all_.data() + 1, all_.data() + 3}, 1);
  EXPECT_EQ(tally.runs(), (RunCounts{0, 1}));
  EXPECT_EQ(tally.of(1), (PredicateCounts{{0, 1}, {0, 1}}));
}

TEST(SiteTable, SilentCountersMakeNothingTrue) {
  SiteTable sites;
  EXPECT_EQ(sites.add({.sites = 2, .counters = 3, .silent = 1}), 0U);
  sites.add({2, 3, false, false});  // another kind
  EXPECT_EQ(sites.predicate_count(), 2U * 2 + 2 * 3);
  EXPECT_EQ(sites.true_predicates(1, 1), 1U);
  EXPECT_EQ(sites.true_predicates(1, 2), 2U);
  EXPECT_EQ(sites.true_predicates(1, 4), 0U);
  EXPECT_EQ(sites.true_predicates(1, 5), 1U);
  EXPECT_EQ(sites.true_predicates(2, 4), 4U);
  PredicateTally tally(sites);
  const LabelledRun run{RunEvidence(std::vector<ObservedSite>{{1, 4}}, {0}), true};
  const std::vector<const LabelledRun*> runs(1, &run);
  tally.add(runs, 1);
  EXPECT_EQ(tally.of(2), (PredicateCounts{{0, 0}, {1, 0}}));
}

// Many runs are counted by sets of counters first: the same as one run after the other.
TEST(PredicateTally, CountsManyRunsAsSingleOnes) {
  SiteTable sites;
  sites.add({RunEvidence::kBlockSites - 1, 2, false, false});  // the groups meet in a block
  sites.add({500, 3, true, false});
  sites.add({40, 9, false, false});  // sets of more than three counters
  std::mt19937 random(1);
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  std::vector<LabelledRun> runs;
  for (int i = 0; i < 100; ++i) {
    std::vector<ObservedSite> observed;
    for (uint32_t site = below(500); site < sites.site_count(); site += 1 + below(40)) {
      const unsigned counters = sites.groups()[sites.group_of(site)].counters;
      observed.push_back({site, 1 + below((1U << counters) - 1)});
    }
    runs.push_back({RunEvidence(observed, {0, 1, 2}), below(3) == 0});
  }
  std::vector<const LabelledRun*> all;
  for (const LabelledRun& run : runs) all.push_back(&run);
  PredicateTally together(sites);
  together.add(all, 2);
  PredicateTally single(sites);
  for (const LabelledRun* run : all) single.add({{run}}, 1);
  const auto expect_equal = [&] {
    EXPECT_EQ(together.runs(), single.runs());
    for (uint32_t predicate = 0; predicate < sites.predicate_count(); ++predicate)
      ASSERT_EQ(together.of(predicate), single.of(predicate)) << predicate;
  };
  expect_equal();
  const auto middle = std::ranges::stable_partition(all, &LabelledRun::failed).begin();
  const std::vector<const LabelledRun*> failed(all.begin(), middle);
  together.relabel(failed, 2);
  for (const LabelledRun* run : failed) single.relabel({{run}}, 1);
  expect_equal();
  const std::vector<const LabelledRun*> passed(middle, all.end());
  ASSERT_GT(passed.size(), 64U);
  together.remove(passed, 2);
  for (const LabelledRun* run : passed) single.remove({{run}}, 1);
  expect_equal();
}

}  // namespace
}  // namespace telltale::isolation
