// Files of telltale's own recorder, whose buffers stand in cells (docs/formats/xray-recorder.md).
#include <gtest/gtest.h>

#include <string>

#include "formats/xray/convert.h"
#include "formats/xray/fdr_frames.h"
#include "formats/xray/verifier.h"
#include "support/xray_builder.h"

namespace telltale::xray {
namespace {

using testing::as_bytes;
using testing::FdrBuilder;

constexpr size_t kCell = 4096;

std::string with_mark(std::string file, uint8_t flags, uint8_t sparse = 0, uint8_t lost = 0) {
  file.replace(
      kRecorderMarkOffset, 5,
      {'T', 'T', static_cast<char>(flags), static_cast<char>(sparse), static_cast<char>(lost)});
  return file;
}

// Two cells of one buffer each, the second ending with the file; an empty cell between them.
std::string two_cells(char slack) {
  FdrBuilder builder(5);
  builder.buffer_size(kCell);
  builder.buffer({.tid = 7, .pid = 9, .tsc = 100}).enter(1, 5).exit(1, 6);
  const size_t used = builder.bytes().size();
  builder.gap(std::string(kFileHeaderBytes + 2 * kCell - used, slack));
  builder.buffer({.tid = 8, .pid = 9, .tsc = 100}).enter(2, 5).exit(2, 6);
  return builder.bytes();
}

TEST(RecorderCells, SlackIsNoDamage) {
  for (const char slack : {'\0', '\x0f'}) {
    const std::string file = with_mark(two_cells(slack), kRecorderCells);
    const auto header = read_file_header(as_bytes(file));
    ASSERT_TRUE(header);
    EXPECT_TRUE(header->recorder.cells);
    const FdrFrames frames = frame_fdr_file(as_bytes(file), *header, "f");
    ASSERT_EQ(frames.buffers.size(), 2U);
    EXPECT_EQ(frames.buffers[1].tid, 8);
    EXPECT_TRUE(frames.problems.kept().empty());
    ASSERT_EQ(frames.gaps.size(), 1U);
    EXPECT_TRUE(frames.gaps[0].slack);
    const auto verdict = verify_trace(as_bytes(file));
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(verdict->valid()) << verdict->first->message;
  }
}

TEST(RecorderCells, WithoutTheMarkItIsDamage) {
  const std::string file = two_cells('\0');
  const auto header = read_file_header(as_bytes(file));
  ASSERT_TRUE(header);
  EXPECT_FALSE(header->recorder.cells);
  EXPECT_FALSE(frame_fdr_file(as_bytes(file), *header, "f").problems.kept().empty());
}

TEST(RecorderCells, EmptyCellsAtTheEnd) {
  const std::string file =
      with_mark(two_cells('\0') + std::string(5 * kCell + 17, '\0'), kRecorderCells);
  const auto header = read_file_header(as_bytes(file));
  ASSERT_TRUE(header);
  const FdrFrames frames = frame_fdr_file(as_bytes(file), *header, "f");
  EXPECT_EQ(frames.buffers.size(), 2U);
  EXPECT_TRUE(frames.problems.kept().empty());
}

TEST(RecorderCells, ExtentsThatLeaveTheCellAreDamage) {
  std::string file = with_mark(two_cells('\0'), kRecorderCells);
  file[kFileHeaderBytes + 2] = '\x7f';
  const auto header = read_file_header(as_bytes(file));
  ASSERT_TRUE(header);
  const FdrFrames frames = frame_fdr_file(as_bytes(file), *header, "f");
  EXPECT_FALSE(frames.problems.kept().empty());
}

TEST(RecorderMark, IsRead) {
  const std::string file = with_mark(two_cells('\0'), kRecorderCells, 16, 3);
  const auto header = read_file_header(as_bytes(file));
  ASSERT_TRUE(header);
  EXPECT_EQ(header->recorder.sparse_interval, 16);
  EXPECT_EQ(header->recorder.lost_events, 3U);
}

}  // namespace
}  // namespace telltale::xray
