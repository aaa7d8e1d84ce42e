#include "import/stacktrack/stacktrack_processes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace telltale {
namespace {

TEST(StacktrackProcesses, FilesAreASeriesByTheirNames) {
  EXPECT_EQ(series_of("logs/shop_2026_0001_7.tlg"), "logs/shop_2026_0001");
  EXPECT_EQ(series_of("shop_1_12.tlg.zst"), "shop_1");
  EXPECT_EQ(series_of("a_1/shop_2"), "a_1/shop");
  for (const char* const name :
       {"shop.tlg", "shop7.tlg", "a_1/shop.tlg", "_7.tlg", "shop_", "", "7"})
    EXPECT_EQ(series_of(name), "") << name;
}

StacktrackPart part(const std::string& series, uint64_t cycle, double first, double last) {
  StacktrackPart made;
  made.pid = 1;
  made.series = series;
  made.program = "/bin/shop";
  made.ticks_per_ms = 1;
  made.first_cycle = made.last_cycle = cycle;
  made.start = first;
  made.threads[2] = {first, last};
  return made;
}

// A thread that is stopped while it records writes to a later file first.
TEST(StacktrackProcesses, FilesOfASeriesAreOfOneProcessInAnyOrder) {
  std::vector<StacktrackPart> parts = {
      part("a/shop_1", 1, 100, 200), part("a/shop_1", 2, 250, 300), part("a/shop_1", 3, 240, 400),
      part("b/shop_1", 1, 105, 201), part("b/shop_1", 2, 239, 310), part("b/shop_1", 3, 312, 390)};
  for (uint32_t i = 0; i < parts.size(); ++i) parts[i].file = i;
  const StacktrackProcesses apart = number_processes(parts);
  EXPECT_EQ(apart.of_parts, (std::vector<uint32_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(apart.among_pid, (std::vector<uint32_t>{1, 2}));
  // A program that it executes begins with the first cycle again.
  parts.push_back(part("a/shop_1", 1, 500, 600));
  parts.back().file = 6;
  EXPECT_EQ(number_processes(parts).of_parts, (std::vector<uint32_t>{0, 0, 0, 1, 1, 1, 2}));
}

}  // namespace
}  // namespace telltale
