#include "cli/options/follow.h"

#include <gtest/gtest.h>

namespace telltale::cli {
namespace {

TEST(NewLines, PassesWhatIsAddedInTheMiddle) {
  NewLines lines;
  lines.begin_file("a");
  EXPECT_EQ(lines.take("   0 FileHeader x=1\n  32 Function tsc=5\n  64 Func"),
            "   0 FileHeader x=1\n  32 Function tsc=5\n");
  EXPECT_EQ(lines.take("tion tsc=6\n"), "  64 Function tsc=6\n");
  lines.restart();
  lines.begin_file("a");
  EXPECT_EQ(lines.take("   0 FileHeader x=1\n  32 Function tsc=5\n  40 Function tsc=7\n"
                       "  64 Function tsc=6\n"),
            "  40 Function tsc=7\n");
  EXPECT_EQ(lines.rest(), "");
}

TEST(NewLines, HoldsBackWhatIsNotFinal) {
  NewLines lines;
  lines.begin_file("a");
  EXPECT_EQ(lines.take("   0 BufferExtents bytes=16\n  16 Skipped reason=filler bytes=48\n"
                       "  64 BufferExtents bytes=8\n"),
            "   0 BufferExtents bytes=16\n  64 BufferExtents bytes=8\n");
  lines.restart();
  lines.begin_file("a");
  EXPECT_EQ(lines.take("   0 BufferExtents bytes=24\n  16 Function tsc=5\n"
                       "  24 Skipped reason=filler bytes=40\n  64 BufferExtents bytes=8\n"),
            "  16 Function tsc=5\n");
  EXPECT_EQ(lines.rest(), "   0 BufferExtents bytes=24\n  24 Skipped reason=filler bytes=40\n");
}

TEST(NewLines, PassesEqualLinesOfEachFileAndEachRecord) {
  NewLines lines;
  const auto generation = [&](std::string_view of_b) {
    lines.restart();
    lines.begin_file("a");
    std::string out =
        lines.take("{\"offset\":1,\"record\":\"Hit\"}\n{\"offset\":1,\"record\":\"Hit\"}\n");
    lines.begin_file("b");
    return out + lines.take(of_b);
  };
  EXPECT_EQ(generation("{\"offset\":1,\"record\":\"Hit\"}\n"),
            "{\"offset\":1,\"record\":\"Hit\"}\n{\"offset\":1,\"record\":\"Hit\"}\n"
            "{\"offset\":1,\"record\":\"Hit\"}\n");
  EXPECT_EQ(
      generation("{\"offset\":1,\"record\":\"Hit\"}\n{\"offset\":2,\"record\":\"Problem\"}\n"), "");
  EXPECT_EQ(lines.rest(), "{\"offset\":2,\"record\":\"Problem\"}\n");
}

TEST(NewLines, KnowsRecordsOfCsvByTheirKind) {
  NewLines lines("LOST");
  EXPECT_EQ(lines.take("offset,count\n"), "offset,count\n");
  lines.begin_file("a");
  EXPECT_EQ(lines.take("192,0\n"), "192,0\n");
  lines.restart();
  EXPECT_EQ(lines.take("offset,count\n"), "");
  lines.begin_file("a");
  EXPECT_EQ(lines.take("192,7\n"), "");
  EXPECT_EQ(lines.rest(), "192,7\n");
}

}  // namespace
}  // namespace telltale::cli
