// Files of telltale's own recorder, whose buffers are in cells (docs/formats/xray-recorder.md).
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "formats/xray/convert.h"
#include "formats/xray/fdr_frames.h"
#include "formats/xray/verifier.h"
#include "support/xray_builder.h"

namespace telltale::xray {
namespace {

using testing::FdrBuilder;

constexpr size_t kCell = 4096;

std::string with_mark(std::string file, uint8_t flags, uint8_t sparse = 0, uint8_t lost = 0) {
  file.replace(
      kRecorderMarkOffset, 5,
      {'T', 'T', static_cast<char>(flags), static_cast<char>(sparse), static_cast<char>(lost)});
  return file;
}

// Two cells with one buffer each, the second ending with the file; an empty cell between them.
std::string two_cells(char slack) {
  FdrBuilder builder(5);
  builder.buffer_size(kCell);
  builder.buffer({.tid = 7, .pid = 9, .tsc = 100}).enter(1, 5).exit(1, 6);
  const size_t used = builder.bytes().size();
  builder.gap(std::string(kFileHeaderBytes + 2 * kCell - used, slack));
  builder.buffer({.tid = 8, .pid = 9, .tsc = 100}).enter(2, 5).exit(2, 6);
  return builder.bytes();
}

FdrFrames framed(const std::string& file) {
  const auto header = read_file_header(as_bytes(file));
  EXPECT_TRUE(header);
  return frame_fdr_file(as_bytes(file), *header, "f");
}

TEST(RecorderCells, WhatIsUnusedIsNoDamage) {
  for (const bool closed : {false, true}) {
    std::string file = with_mark(two_cells('\0'), kRecorderCells);
    const size_t used = framed(file).buffers[0].end;
    if (closed) file.replace(used, 2, {'\x03', '\x01'});
    const FdrFrames frames = framed(file);
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

TEST(RecorderCells, ABufferThatWasBeingOpenedIsUnused) {
  const std::string sound = with_mark(two_cells('\0'), kRecorderCells);
  const FdrFrames frames = framed(sound);
  const size_t used = frames.buffers[0].end;
  const std::string opening =
      sound.substr(frames.buffers[1].frame_begin + kMetadataRecordBytes, 4 * kMetadataRecordBytes);
  for (size_t records = 0; records <= 4; ++records) {
    std::string file = sound;
    file.replace(used + kMetadataRecordBytes, records * kMetadataRecordBytes, opening, 0,
                 records * kMetadataRecordBytes);
    EXPECT_TRUE(framed(file).problems.kept().empty()) << records;
    EXPECT_TRUE(verify_trace(as_bytes(file))->valid()) << records;
    // With an event after it, it was open.
    file[used + 5 * kMetadataRecordBytes] = 0x10;
    EXPECT_FALSE(framed(file).problems.kept().empty()) << records;
  }
}

TEST(RecorderCells, ABufferDoesNotBeginBehindItsCell) {
  FdrBuilder builder(5);
  builder.buffer_size(kCell);
  builder.buffer({.tid = 7, .pid = 9, .tsc = 100});
  while (builder.bytes().size() < kFileHeaderBytes + kCell) builder.enter(1, 5);
  builder.buffer({.tid = 8, .pid = 9, .tsc = 100}).enter(2, 5).exit(2, 6);
  std::string file = with_mark(builder.bytes(), kRecorderCells);
  for (size_t bytes = 1; bytes < 2 * kCell; ++bytes) {
    file.replace(16, 2, {static_cast<char>(bytes & 0xFF), static_cast<char>(bytes >> 8)});
    for (const BufferFrame& buffer : framed(file).buffers) {
      ASSERT_LE(buffer.begin, buffer.end) << bytes;
      ASSERT_LE(buffer.end, file.size()) << bytes;
    }
  }
}

TEST(RecorderCells, WhateverElseStandsThereIsDamage) {
  const std::string sound = with_mark(two_cells('\0'), kRecorderCells);
  const size_t used = framed(sound).buffers[0].end;
  const std::string garbage = with_mark(two_cells('\x0f'), kRecorderCells);
  std::string last_byte = sound;
  last_byte[kFileHeaderBytes + 2 * kCell - 1] = 1;
  std::string first_byte = sound;
  first_byte[used + 9] = 1;  // after a free word
  for (const std::string& file : {garbage, last_byte, first_byte}) {
    const FdrFrames frames = framed(file);
    EXPECT_EQ(frames.buffers.size(), 2U);
    EXPECT_TRUE(frames.problems.damaged());
    EXPECT_FALSE(verify_trace(as_bytes(file))->valid());
  }
}

// Changes each byte of a cell's head in turn: the buffer is delivered, or reported as lost.
TEST(RecorderCells, ADamagedHeadIsNotSlack) {
  const std::string sound = with_mark(two_cells('\0'), kRecorderCells);
  const BufferFrame whole = framed(sound).buffers[0];
  for (size_t at = kFileHeaderBytes; at < whole.end; ++at) {
    for (const char byte : {'\0', static_cast<char>(~sound[at])}) {
      std::string file = sound;
      file[at] = byte;
      const FdrFrames frames = framed(file);
      const bool delivered = frames.buffers.size() == 2 && frames.buffers[0].begin == whole.begin &&
                             frames.buffers[0].end == whole.end;
      EXPECT_TRUE(delivered || frames.problems.damaged()) << at;
    }
  }
}

// Two buffers in one cell, as an ended thread and the next one leave them.
std::string two_in_a_cell() {
  FdrBuilder builder(5);
  builder.buffer_size(kCell);
  builder.buffer({.tid = 7, .pid = 9, .tsc = 100}).enter(1, 5).exit(1, 6);
  builder.buffer({.tid = 8, .pid = 9, .tsc = 100}).enter(2, 5).exit(2, 6).enter(3, 1).exit(3, 1);
  builder.gap(std::string(kFileHeaderBytes + kCell - builder.bytes().size(), '\0'));
  return with_mark(builder.bytes(), kRecorderCells);
}

TEST(RecorderCells, RecordsTellWhereDamagedExtentsEnd) {
  const std::string sound = two_in_a_cell();
  const std::vector<BufferFrame> whole = framed(sound).buffers;
  ASSERT_EQ(whole.size(), 2U);
  for (const size_t buffer : {0, 1}) {
    const uint64_t size = whole[buffer].end - whole[buffer].begin;
    for (const uint64_t extents : {uint64_t{0}, uint64_t{16}, uint64_t{64}, size - 16, size - 12,
                                   size + 8, size + 64, uint64_t{4000}, uint64_t{0xFFFF}}) {
      std::string file = sound;
      file[whole[buffer].frame_begin + 1] = static_cast<char>(extents & 0xFF);
      file[whole[buffer].frame_begin + 2] = static_cast<char>(extents >> 8);
      const FdrFrames frames = framed(file);
      ASSERT_EQ(frames.buffers.size(), 2U) << buffer << " " << extents;
      for (const size_t i : {0, 1}) {
        EXPECT_EQ(frames.buffers[i].end, whole[i].end) << buffer << " " << extents;
        EXPECT_EQ(frames.buffers[i].tid, whole[i].tid) << buffer << " " << extents;
      }
      EXPECT_TRUE(frames.problems.damaged()) << buffer << " " << extents;
    }
  }
}

// The extents are raised after the event is written: a process may die in between.
TEST(RecorderCells, AnEventThatWasNotCountedIsDelivered) {
  std::string file = two_in_a_cell();
  const std::vector<BufferFrame> whole = framed(file).buffers;
  file[whole[1].frame_begin + 1] = static_cast<char>(file[whole[1].frame_begin + 1] - 8);
  const FdrFrames frames = framed(file);
  ASSERT_EQ(frames.buffers.size(), 2U);
  EXPECT_EQ(frames.buffers[1].end, whole[1].end);
  EXPECT_EQ(frames.problems.count(), 0U);
}

std::string with_parts(std::string file, uint8_t flags, uint32_t parts) {
  file = with_mark(std::move(file), flags | kRecorderCounts);
  for (size_t i = 0; i < 4; ++i) file[4 + i] = static_cast<char>((parts << 2 | 3) >> 8 * i);
  return file;
}

TEST(RecorderCells, ACutBetweenCellsIsATornFile) {
  const std::string whole = with_parts(
      two_cells('\0') + std::string(3 * kCell + kFileHeaderBytes - two_cells('\0').size(), '\0'),
      kRecorderCells, 3);
  EXPECT_EQ(framed(whole).problems.count(), 0U);
  for (const size_t cells : {0, 1, 2}) {
    const FdrFrames frames = framed(whole.substr(0, kFileHeaderBytes + cells * kCell));
    EXPECT_TRUE(frames.problems.damaged()) << cells;
    EXPECT_EQ(frames.problems.lost_bytes(), (3 - cells) * kCell);
  }
  // Cells that were allocated and not started.
  EXPECT_EQ(framed(whole + std::string(100, '\0')).problems.count(), 0U);

  FdrBuilder builder(5);
  builder.buffer({.tid = 7, .pid = 9, .tsc = 100}).enter(1, 5);
  const size_t first = builder.bytes().size();
  builder.buffer({.tid = 8, .pid = 9, .tsc = 100}).enter(1, 5);
  const std::string compact = with_parts(builder.bytes(), 0, 2);
  EXPECT_EQ(framed(compact).problems.count(), 0U);
  EXPECT_TRUE(framed(compact.substr(0, first)).problems.damaged());
}

// Version 1: a cell is a buffer, padded with EndOfBuffer words.
std::string version_1_cell() {
  FdrBuilder builder(1);
  builder.buffer_size(kCell);
  builder.buffer({.tid = 7, .tsc = 100}).enter(1, 5).exit(1, 6).enter(0x30, 7).exit(0x30, 8);
  std::string file = builder.without_end().bytes();
  while (file.size() < kFileHeaderBytes + kCell) file += std::string("\3\0\0\0\0\0\0\0", 8);
  file.resize(kFileHeaderBytes + kCell);
  return with_mark(file, kRecorderCells);
}

TEST(RecorderCells, Version1EndsOnlyBeforeFreeWords) {
  const std::string sound = version_1_cell();
  const auto count_of = [](const std::string& file) {
    const auto verdict = verify_trace(as_bytes(file));
    return std::pair(verdict->records, verdict->valid());
  };
  const auto [records, valid] = count_of(sound);
  EXPECT_TRUE(valid);
  const size_t end = sound.find(std::string("\3\0\0\0\0\0\0\0\3", 9));
  for (size_t at = kFileHeaderBytes; at < end + 16; ++at) {
    for (const int mask : {0x01, 0x02, 0x03, 0xFF}) {
      std::string file = sound;
      file[at] = static_cast<char>(file[at] ^ mask);
      const auto [now, now_valid] = count_of(file);
      EXPECT_TRUE(now >= records || !now_valid) << at << " " << mask;
    }
  }
  EXPECT_TRUE(count_of(sound + std::string(kCell, '\0')).second) << "a cell that was not begun";
  std::string begun = sound;
  while (begun.size() < kFileHeaderBytes + 2 * kCell - 100) begun += sound.substr(end, 8);
  EXPECT_TRUE(count_of(begun + std::string(100, '\0')).second) << "a cell that was made ready";
  const size_t behind_new_buffer = kFileHeaderBytes + kMetadataRecordBytes;
  std::string opened = begun;
  opened.replace(behind_new_buffer + kCell, 32, sound, behind_new_buffer, 32);
  EXPECT_TRUE(count_of(opened + std::string(100, '\0')).second) << "a buffer that was being opened";
  begun[kFileHeaderBytes + kCell] = 1;
  EXPECT_FALSE(count_of(begun + std::string(100, '\0')).second);
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
