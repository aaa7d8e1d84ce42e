#include "formats/mono/event_variant.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace telltale::mono {
namespace {

TEST(EventVariant, SaysWhatTheFirstByteSays) {
  const Layout layout = layout_of(17);
  EXPECT_EQ(event_variant(0x00, layout), "");
  EXPECT_EQ(event_variant(0x10, layout), "with a backtrace");
  EXPECT_EQ(event_variant(0x71, layout), "destroyed, with a backtrace");
  EXPECT_EQ(event_variant(0xA1, layout), "start of an object");
  EXPECT_EQ(event_variant(0x42, layout), "unloaded");
  EXPECT_EQ(event_variant(0x33, layout), "leave by an exception");
  EXPECT_EQ(event_variant(0x85, layout), "with a backtrace");
  EXPECT_EQ(event_variant(0x95, layout_of(13)), "contention, with a backtrace");
  EXPECT_EQ(event_variant(0xFF, layout), "");
}

// Kind and variant identify every first byte of a version, except for bits without a meaning.
TEST(EventVariant, TellsAllFirstBytesOfAVersionApart) {
  for (const int version : {1, 17}) {
    const Layout layout = layout_of(static_cast<uint8_t>(version));
    std::set<std::pair<uint8_t, std::string>> seen;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const auto first = static_cast<uint8_t>(byte);
      const uint8_t kind = layout.events.kind[first];
      if (kind == EventTable::kNone) continue;
      EXPECT_TRUE(seen.emplace(kind, event_variant(first, layout)).second) << byte;
    }
  }
}

}  // namespace
}  // namespace telltale::mono
