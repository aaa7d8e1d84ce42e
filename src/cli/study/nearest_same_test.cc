#include "cli/study/nearest_same.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace telltale::cli {
namespace {

using testing::ElementsAre;

class Words final : public PredicateSet {
 public:
  explicit Words(std::vector<PredicateWords> words) : words_(std::move(words)) {}
  [[nodiscard]] const isolation::SiteTable& table() const override { return table_; }
  [[nodiscard]] PredicateWords describe(uint32_t predicate) const override {
    return words_[std::min<size_t>(predicate, words_.size() - 1)];
  }

 private:
  std::vector<PredicateWords> words_;
  isolation::SiteTable table_;
};

PredicateWords at(std::string_view file, uint64_t line, std::string_view function) {
  PredicateWords words;
  words.file = file;
  words.line = line;
  words.function = function;
  return words;
}

TEST(NearestSame, LineThenFunctionThenTheRest) {
  const Words words({at("a.c", 10, "f"), at("b.c", 10, "g"), at("a.c", 12, "f"), at("a.c", 10, "f"),
                     at("a.c", 20, "g"), at("a.c", 10, "inlined")});
  isolation::Isolation isolation;
  isolation.predictors.emplace_back().same = {4, 1, 2, 5, 3};
  put_nearest_first(words, isolation);
  EXPECT_THAT(isolation.predictors[0].same, ElementsAre(5, 3, 2, 4, 1));
}

}  // namespace
}  // namespace telltale::cli
