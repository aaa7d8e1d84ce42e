#include "base/keep_first.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

namespace telltale {
namespace {

TEST(KeepFirst, TheFirstInOrder) {
  const std::vector<int> all = {5, 1, 4, 2, 3};
  const std::vector<int> sorted = {5, 4, 3, 2, 1};
  for (size_t count = 0; count <= all.size() + 1; ++count) {
    std::vector<int> kept = all;
    keep_first(kept, count, std::greater());
    EXPECT_EQ(kept, std::vector<int>(
                        sorted.begin(),
                        sorted.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size()))));
  }
}

TEST(KeepFirst, TiesOfTheLastOneAreCandidates) {
  const std::vector<int> all = {5, 1, 3, 2, 3, 4, 3};
  const size_t kept_of_count[] = {0, 1, 2, 5, 5, 5, 6, 7, 7};
  for (size_t count = 0; count < std::size(kept_of_count); ++count) {
    std::vector<int> kept = all;
    keep_first_and_ties(kept, count, std::greater());
    std::ranges::sort(kept, std::greater());
    const std::vector<int> sorted = {5, 4, 3, 3, 3, 2, 1};
    EXPECT_EQ(kept, std::vector<int>(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(
                                                                          kept_of_count[count])));
  }
}

}  // namespace
}  // namespace telltale
