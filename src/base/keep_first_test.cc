#include "base/keep_first.h"

#include <gtest/gtest.h>

#include <functional>

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

}  // namespace
}  // namespace telltale
