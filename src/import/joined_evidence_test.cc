#include "import/joined_evidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace telltale {
namespace {

using isolation::ObservedSite;
using isolation::RunEvidence;

// Two groups: `sites` sites with two counters, and a site that reports observe.
class NumberedPredicates final : public PredicateSet {
 public:
  NumberedPredicates(std::string name, uint32_t sites) : name_(std::move(name)) {
    table_.add({sites, 2, false, false});
    table_.add({1, 1, false, true});
  }
  [[nodiscard]] const isolation::SiteTable& table() const override { return table_; }
  [[nodiscard]] PredicateWords describe(uint32_t predicate) const override {
    PredicateWords words;
    words.text = name_ + std::to_string(predicate);
    return words;
  }

 private:
  std::string name_;
  isolation::SiteTable table_;
};

RunEvidence evidence(const std::vector<ObservedSite>& sites, std::vector<uint32_t> groups) {
  return {sites, std::move(groups)};
}

TEST(JoinedEvidence, KeepsRunsOfEitherKindAndNumbersTheSecondBehindTheFirst) {
  NumberedEvidence first;
  first.predicates = std::make_unique<NumberedPredicates>("a", 3);
  first.runs = {{evidence({{0, 1}, {2, 2}}, {0, 1}), true}, {evidence({{3, 1}}, {1}), false}};
  first.number_of_run = {1, 4};
  first.first_true = {1, 2, 3, 4, 5, 6, 7};
  NumberedEvidence second;
  second.predicates = std::make_unique<NumberedPredicates>("b", 2);
  second.runs = {{evidence({{0, 3}}, {0}), false},
                 {evidence({{1, 2}, {2, 1}}, {0, 1}), false},
                 {evidence({{1, 1}}, {0}), true}};
  second.number_of_run = {0, 4, 9};

  const NumberedEvidence joined = join_evidence(std::move(first), std::move(second));
  EXPECT_EQ(joined.number_of_run, (std::vector<size_t>{0, 1, 4, 9}));
  ASSERT_EQ(joined.runs.size(), 4U);
  const auto failed = [&](size_t run) { return joined.runs[run].failed; };
  EXPECT_EQ(std::vector({failed(0), failed(1), failed(2), failed(3)}),
            std::vector({false, true, false, true}));

  const isolation::SiteTable& table = joined.predicates->table();
  EXPECT_EQ(table.site_count(), 7U);
  EXPECT_EQ(table.predicate_count(), 12U);
  EXPECT_EQ(joined.predicates->describe(6).text, "a6");
  EXPECT_EQ(joined.predicates->describe(7).text, "b0");
  EXPECT_EQ(joined.predicates->describe(table.first_predicate(5)).text, "b2");

  const auto counted = [&](size_t run, uint32_t site) {
    return joined.runs[run].evidence.counted_at(site);
  };
  EXPECT_EQ(counted(0, 4), 3U);  // a run of the second kind alone
  EXPECT_EQ(counted(0, 0), 0U);
  EXPECT_EQ(joined.runs[0].evidence.groups(), (std::vector<uint32_t>{2}));
  EXPECT_EQ(counted(1, 2), 2U);
  EXPECT_EQ(joined.runs[1].evidence.groups(), (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(counted(2, 3), 1U);  // both kinds
  EXPECT_EQ(counted(2, 5), 2U);
  EXPECT_EQ(counted(2, 6), 1U);
  EXPECT_EQ(joined.runs[2].evidence.groups(), (std::vector<uint32_t>{1, 2, 3}));
  EXPECT_EQ(counted(3, 5), 1U);

  ASSERT_EQ(joined.first_true.size(), 12U);
  EXPECT_EQ(joined.first_true[6], 7);
  EXPECT_TRUE(std::isnan(joined.first_true[7]));
}

}  // namespace
}  // namespace telltale
