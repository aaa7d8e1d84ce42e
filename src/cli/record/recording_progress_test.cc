#include "cli/record/recording_progress.h"

#include <gtest/gtest.h>

namespace telltale::cli {
namespace {

TEST(RecordingProgress, SaysHowLongAndHowMuch) {
  EXPECT_EQ(recording_words(0, {}), "recording: 0 s, 0 bytes");
  EXPECT_EQ(recording_words(12'999, {3 << 20, 0}), "recording: 12 s, 3 MiB");
  EXPECT_EQ(recording_words(12'999, {3 << 20, 393'216}),
            "recording: 12 s, 3 MiB, about 393,216 events");
}

}  // namespace
}  // namespace telltale::cli
