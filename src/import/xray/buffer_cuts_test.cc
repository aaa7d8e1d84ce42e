#include "import/xray/buffer_cuts.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>
#include <string>

#include "support/xray_builder.h"

namespace telltale {
namespace {

using testing::FdrBuilder;

// Start of the only buffer of a file, after its BufferExtents record.
constexpr uint64_t kBegin = xray::kFileHeaderBytes + xray::kMetadataRecordBytes;

// The time before each function record at which a cut is possible, computed naively.
struct TimesByOffset {
  std::map<uint64_t, uint64_t> times;
  uint64_t tsc = 0;
  bool timed = false;
  bool moved = false;

  void function(uint64_t offset, const xray::FunctionRecord& record) {
    if (timed && moved) times[offset] = tsc;
    tsc += record.tsc_delta;
    moved = record.tsc_delta != 0;
  }
  void metadata(const xray::FdrRecord& record) {
    moved = false;
    if (const auto* cpu = std::get_if<xray::NewCpuId>(&record.payload)) {
      tsc = cpu->tsc;
      timed = true;
    }
    if (const auto* wrap = std::get_if<xray::TscWrap>(&record.payload)) {
      tsc = wrap->tsc;
      timed = true;
    }
    if (const auto* custom = std::get_if<xray::CustomEvent>(&record.payload))
      tsc += static_cast<uint64_t>(int64_t{custom->tsc_delta});
    if (const auto* typed = std::get_if<xray::TypedEvent>(&record.payload))
      tsc += static_cast<uint64_t>(int64_t{typed->tsc_delta});
  }
};

std::vector<BufferCut> cut(const std::string& file, uint64_t piece_bytes, size_t workers = 2) {
  const Bytes bytes = as_bytes(file);
  const auto header = xray::read_file_header(bytes);
  return cut_buffer(bytes, header.value(), kBegin, file.size(), piece_bytes, workers);
}

// Random records of every kind; `odd`: with payloads of any length, so that records begin anywhere.
std::string random_buffer(uint32_t seed, uint16_t version, std::endian order, bool odd) {
  std::mt19937 engine(seed);
  const auto random = [&engine] { return static_cast<uint32_t>(engine()); };
  FdrBuilder file(version, order);
  file.buffer({.tsc = 5000});
  for (int i = 0; i < 3000; ++i) {
    const uint32_t delta = random() % 4;
    switch (random() % 40) {
      case 0:
        file.record(xray::NewCpuId{1, 100'000 + random() % 1000});
        break;
      case 1:
        file.record(xray::TscWrap{random() % 1000});
        break;
      case 2:
        file.enter_args(3, delta).argument(random());
        break;
      case 3:
        if (odd) file.custom(std::string(random() % 300, 'p'), 7);
        break;
      case 4:
        if (odd && version >= 5) file.typed(2, std::string(random() % 30, 't'), 9);
        break;
      default:
        random() % 2 == 0 ? file.enter(random() % 9, delta) : file.exit(random() % 9, delta);
    }
  }
  return file.bytes();
}

TEST(BufferCuts, StandWhereTheTimeIsKnown) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const uint16_t version = seed % 3 == 0 ? 3 : 5;
    const bool odd = seed % 2 == 0;
    const auto order = seed % 5 == 0 ? std::endian::big : std::endian::little;
    const std::string file = random_buffer(seed, version, order, odd);
    const auto header = xray::read_file_header(as_bytes(file)).value();
    TimesByOffset right;
    const xray::WalkEnd walk =
        xray::walk_fdr_records(as_bytes(file), kBegin, file.size(), header, right);
    ASSERT_FALSE(walk.error.has_value());
    for (const uint64_t piece_bytes : {64, 200, 1000, 5000}) {
      const auto cuts = cut(file, piece_bytes);
      // A piece inside a long event cannot be cut.
      if (!odd && piece_bytes >= 1000) {
        EXPECT_EQ(cuts.size() + 1, (file.size() - kBegin) / piece_bytes);
      }
      uint64_t last = kBegin;
      for (const BufferCut& one : cuts) {
        EXPECT_GT(one.offset, last);
        last = one.offset;
        ASSERT_TRUE(right.times.contains(one.offset)) << seed << " " << one.offset;
        EXPECT_EQ(right.times[one.offset], one.tsc) << seed << " " << one.offset;
      }
      for (const size_t workers : {1, 3}) {
        const auto others = cut(file, piece_bytes, workers);
        ASSERT_EQ(others.size(), cuts.size());
        for (size_t i = 0; i < cuts.size(); ++i) EXPECT_EQ(others[i].offset, cuts[i].offset);
      }
    }
  }
}

TEST(BufferCuts, EndWhereARecordCannotBeRead) {
  std::string file = random_buffer(1, 5, std::endian::little, false);
  const size_t damaged = kBegin + 4003 / 8 * 8;
  const auto before = cut(file, 1000);
  for (size_t i = 0; i < 16; ++i) file[damaged + i] = static_cast<char>(0xFF);
  const auto after = cut(file, 1000);
  ASSERT_GE(before.size(), 10U);
  ASSERT_EQ(after.size(), 3U);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(after[i].offset, before[i].offset);
}

// A buffer's first record ends the previous buffer, also at the start of a piece.
TEST(BufferCuts, EndWhereAnotherBufferBegins) {
  FdrBuilder builder(5);
  builder.buffer({.tsc = 5000});
  for (int i = 0; i < 100; ++i) builder.enter(1, 3);
  const std::string first = builder.bytes();
  std::string file = first;
  file.append(first, xray::kFileHeaderBytes);
  const uint64_t piece_bytes = (first.size() - kBegin) / 2;
  ASSERT_EQ((first.size() - kBegin) % 2, 0U);
  const auto cuts = cut(file, piece_bytes);
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_LT(cuts[0].offset, first.size());
}

}  // namespace
}  // namespace telltale
