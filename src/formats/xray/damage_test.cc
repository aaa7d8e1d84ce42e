// What a reader must deliver from truncated files, flipped bits and wrong lengths.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "formats/xray/basic_runs.h"
#include "formats/xray/fdr_file_walk.h"
#include "support/xray_samples.h"

namespace telltale::xray {
namespace {

using testing::Sample;

// A record as a reader delivered it: its place and its bytes.
struct Seen {
  uint64_t offset = 0;
  std::string raw;
  size_t buffer = 0;  // ordinal of its buffer in the file
  auto operator<=>(const Seen&) const = default;
};

struct Collect {
  std::string_view file;
  std::vector<Seen> seen;
  size_t buffer = 0;
  uint64_t skipped_bytes = 0;
  size_t problems = 0;

  void keep(uint64_t offset, size_t size) {
    seen.push_back({offset, std::string(file.substr(offset, size)), buffer});
  }
  void begin_buffer(const BufferFrame&) {}
  void end_buffer(const BufferFrame&) { ++buffer; }
  void problem(const Problem& problem) {
    ++problems;
    EXPECT_LE(problem.offset, file.size());
  }
  void function(uint64_t offset, const FunctionRecord&) { keep(offset, kFunctionRecordBytes); }
  void metadata(const FdrRecord& record) { keep(record.offset, record.raw.size()); }
  void skipped(const SkippedBytes& skipped) {
    if (skipped.reason != SkippedBytes::Reason::filler) skipped_bytes += skipped.bytes.size();
  }
  void record(const BasicRecord& record) { keep(record.offset, kBasicRecordBytes); }
};

Collect collected(std::string_view file) {
  Collect all;
  all.file = file;
  const Result<FileHeader> header = read_file_header(as_bytes(file));
  if (!header) return all;
  if (header->type == LogType::fdr) {
    walk_fdr_file(as_bytes(file), *header, frame_fdr_file(as_bytes(file), *header, "f"), "f", all);
  } else {
    ProblemLog problems;
    for (const BasicRun& run : find_basic_runs(as_bytes(file), *header, "f", problems)) {
      walk_basic_records(as_bytes(file), run.begin, run.end, *header, all);
    }
    all.problems = problems.count();
  }
  return all;
}

TEST(Damage, EveryPrefixGivesAllWholeRecordsBeforeTheCut) {
  for (const Sample& sample : testing::valid_samples()) {
    const std::vector<Seen> whole = collected(sample.bytes).seen;
    size_t expected = 0;
    for (size_t size = 0; size < sample.bytes.size(); ++size) {
      while (expected < whole.size() && whole[expected].offset + whole[expected].raw.size() <= size)
        ++expected;
      const Collect cut = collected(std::string_view(sample.bytes).substr(0, size));
      ASSERT_EQ(cut.seen.size(), expected) << sample.name << " cut at " << size;
      for (size_t i = 0; i < expected; ++i) {
        ASSERT_EQ(cut.seen[i].offset, whole[i].offset) << sample.name << " cut at " << size;
      }
    }
  }
}

// A cut inside the record that opens a buffer, at each of its bytes.
TEST(Damage, ACutInBufferExtentsLosesTheBytesThatAreLeft) {
  for (const uint16_t version : {uint16_t{2}, uint16_t{3}, uint16_t{5}}) {
    const std::string one = testing::FdrBuilder(version).buffer({}).enter(1, 5).exit(1, 5).bytes();
    const std::string two = testing::FdrBuilder(version)
                                .buffer({})
                                .enter(1, 5)
                                .exit(1, 5)
                                .buffer({})
                                .enter(1, 5)
                                .bytes();
    for (size_t left = 1; left < kMetadataRecordBytes; ++left) {
      const std::string file = two.substr(0, one.size() + left);
      const Result<FileHeader> header = read_file_header(as_bytes(file));
      const FdrFrames frames = frame_fdr_file(as_bytes(file), *header, "f");
      EXPECT_EQ(frames.buffers.size(), 1U);
      ASSERT_EQ(frames.gaps.size(), 1U);
      EXPECT_EQ(frames.gaps[0].offset, one.size());
      EXPECT_EQ(frames.gaps[0].bytes, left);
      const std::vector<Problem> problems = frames.problems.kept();
      ASSERT_EQ(problems.size(), 1U);
      EXPECT_EQ(problems[0].kind, Problem::Kind::torn_tail);
      EXPECT_EQ(problems[0].offset, one.size());
      EXPECT_EQ(problems[0].lost_bytes, left);
    }
  }
}

// Zeros, as a crashed ring leaves them, or random bytes in place of the rest cost no whole record,
// except those of an incomplete preamble.
TEST(Damage, ZerosOrGarbageBehindTheCutCostNoWholeRecord) {
  constexpr size_t kPreambleRecords = 5;
  for (const Sample& sample : {Sample{"ring", testing::samples::wrapped_ring().bytes()},
                               Sample{"calls", testing::samples::calls().bytes()}}) {
    const std::vector<Seen> whole = collected(sample.bytes).seen;
    for (const char tail : {'\0', '\xFF', '\x5A'}) {
      for (size_t size = kFileHeaderBytes; size < sample.bytes.size(); size += 3) {
        const Collect cut = collected(sample.bytes.substr(0, size) + std::string(100, tail));
        std::set<uint64_t> offsets;
        for (const Seen& record : cut.seen) offsets.insert(record.offset);
        for (const Seen& record : whole) {
          if (record.offset + record.raw.size() > size) break;
          const auto preamble_end = std::ranges::find(whole, record.buffer, &Seen::buffer)->offset +
                                    kPreambleRecords * kMetadataRecordBytes;
          if (preamble_end > size) break;
          ASSERT_TRUE(offsets.contains(record.offset))
              << sample.name << " cut at " << size << " lost the record at " << record.offset;
        }
      }
    }
  }
}

TEST(Damage, OneFlippedBitCostsAtMostItsBuffer) {
  std::vector<Sample> samples = testing::valid_samples();
  for (const Sample& sample : samples) {
    const Result<FileHeader> header = read_file_header(as_bytes(sample.bytes));
    const std::vector<Seen> whole = collected(sample.bytes).seen;
    const bool basic = header->type == LogType::basic;
    for (size_t bit = kFileHeaderBytes * 8; bit < std::min<size_t>(sample.bytes.size(), 4096) * 8;
         ++bit) {
      std::string damaged = sample.bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      const Collect cut = collected(damaged);
      std::set<std::pair<uint64_t, std::string>> delivered;
      for (const Seen& record : cut.seen) delivered.emplace(record.offset, record.raw);
      // The buffer of the undamaged file that contains the flipped bit.
      size_t hit = SIZE_MAX;
      for (const Seen& record : whole) {
        if (record.offset <= bit / 8) hit = basic ? record.offset : record.buffer;
      }
      for (const Seen& record : whole) {
        if ((basic ? record.offset : record.buffer) == hit) continue;
        ASSERT_TRUE(delivered.contains({record.offset, record.raw}))
            << sample.name << ": bit " << bit % 8 << " of byte " << bit / 8
            << " lost the record at " << record.offset;
      }
    }
  }
}

TEST(Damage, AnyHeaderBitMayFlip) {
  for (const Sample& sample : testing::valid_samples()) {
    for (size_t bit = 0; bit < kFileHeaderBytes * 8; ++bit) {
      std::string damaged = sample.bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      const Collect cut = collected(damaged);
      EXPECT_LE(cut.skipped_bytes, damaged.size());
    }
  }
}

// Sets every length and count in a file to values that break careless arithmetic.
TEST(Damage, HostileLengths) {
  constexpr uint64_t kValues[] = {0,           1,           0x7FFFFFFF,         0x80000000,
                                  0xFFFFFFFF,  0x100000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000,
                                  ~uint64_t{0}};
  const auto put = [](std::string file, size_t at, size_t width, uint64_t value,
                      std::endian order) {
    for (size_t i = 0; i < width; ++i) {
      const size_t shift = 8 * (order == std::endian::little ? i : width - 1 - i);
      file[at + i] = static_cast<char>(value >> shift);
    }
    return file;
  };
  for (const Sample& sample : testing::valid_samples()) {
    const Result<FileHeader> header = read_file_header(as_bytes(sample.bytes));
    std::vector<std::pair<size_t, size_t>> fields = {{16, 8},
                                                     {8, 8}};  // buffer_size, cycle_frequency
    for (const Seen& record : collected(sample.bytes).seen) {
      if (header->type != LogType::fdr || record.raw.size() < kMetadataRecordBytes) continue;
      const auto first = static_cast<uint8_t>(record.raw[0]);
      const auto kind = static_cast<MetadataKind>(
          header->order == std::endian::little ? first >> 1 : first & 0x7F);
      if (kind == MetadataKind::buffer_extents) fields.emplace_back(record.offset + 1, 8);
      if (kind == MetadataKind::custom_event_marker || kind == MetadataKind::typed_event_marker) {
        fields.emplace_back(record.offset + 1, 4);
      }
    }
    for (const auto& [at, width] : fields) {
      for (const uint64_t value : kValues) {
        const Collect cut = collected(put(sample.bytes, at, width, value, header->order));
        EXPECT_GE(cut.seen.size() + cut.problems, 1U - (sample.bytes.size() == kFileHeaderBytes))
            << sample.name;
        EXPECT_LE(cut.skipped_bytes, sample.bytes.size());
      }
    }
  }
}

}  // namespace
}  // namespace telltale::xray
