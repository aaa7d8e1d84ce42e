#include "output/timeline/event_title.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace telltale {
namespace {

std::string title(std::string_view category, const std::string& payload, uint32_t type = 0) {
  return event_title({1, category, type, std::as_bytes(std::span(payload))});
}

TEST(EventTitle, IsWhatTheProgramRecorded) {
  EXPECT_EQ(title("step", "miss"), "miss");
  EXPECT_EQ(title("variable", "request=12830"), "request=12830");
  EXPECT_EQ(title("custom", std::string(100, 'x')), std::string(100, 'x'));
  EXPECT_EQ(title("typed", "hello", 6), "typed event 6: hello");
}

TEST(EventTitle, IsTheKindOfWhatIsNoShortLine) {
  EXPECT_EQ(title("custom", ""), "custom event");
  EXPECT_EQ(title("custom", std::string("\0\xff", 2)), "custom event");
  EXPECT_EQ(title("custom", "two\nlines"), "custom event");
  EXPECT_EQ(title("custom", std::string(101, 'x')), "custom event");
  EXPECT_EQ(title("typed", "\xff", 6), "typed event 6");
}

}  // namespace
}  // namespace telltale
