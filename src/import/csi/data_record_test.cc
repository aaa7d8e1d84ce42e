#include "import/csi/data_record.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bytes/as_bytes.h"
#include "bytes/cursor.h"
#include "formats/csi/wire.h"

namespace telltale {
namespace {

using namespace csi;  // NOLINT(google-build-using-namespace): the names of the layout

using Record = std::vector<uint8_t>;

std::string text_of(const Record& record) { return {record.begin(), record.end()}; }

struct Read {
  std::optional<FunctionData> data;
  bool is_damaged = false;
};
Read read(const std::string& text) {
  Cursor in(as_bytes(text));
  Read read{.data = read_data_record(in)};
  read.is_damaged = in.error().has_value();
  return read;
}

constexpr uint8_t head(DataStep kind, unsigned uses, unsigned flags = 0) {
  return static_cast<uint8_t>(static_cast<unsigned>(kind) | uses << kDataUsesShift | flags);
}
// A value that was computed as the one before the last `distance`.
constexpr uint8_t back(uint8_t distance) {
  return static_cast<uint8_t>(data_distance(100, 99U - distance) << kDataUseBits);
}
constexpr uint8_t item(uint8_t number, DataUse use) {
  return static_cast<uint8_t>(number << kDataUseBits | static_cast<unsigned>(use));
}

// int f(int n) { int a; a = n; g(&a, a); return global; } with a branch and a phi beside it.
Record record() {
  return {kDataVersion,
          kTakesMemory,
          1,  // parameters
          1,
          0,
          'n',
          0,  // names
          2,
          2,
          'a',
          0,  // objects: a shared local
          5,
          'g',
          'l',
          0,  // a global
          2,  // blocks
          3,  // steps of the first
          head(DataStep::kStore, 1, kDataHasLine),
          7,
          back(0),
          item(1, DataUse::kValue),
          head(DataStep::kCall, 0, kDataHasResult | kDataHasLine | kDataHasScope),
          3,
          1,
          kCallReads | kCallWrites,
          2,
          1,
          item(1, DataUse::kAddress),
          1,
          item(1, DataUse::kRange),
          4,
          8,
          head(DataStep::kBranch, 1),
          item(2, DataUse::kContents),
          3,  // steps of the second
          head(DataStep::kPhi, 0, kDataHasResult),
          1,
          0,
          1,
          back(0),
          head(DataStep::kEffect, kDataManyUses, kDataHasLine),
          0x76,
          4,
          back(2),
          back(1),
          back(0),
          item(0, DataUse::kContents),
          2,
          item(0, DataUse::kContents),
          item(2, DataUse::kRange),
          0,
          4,
          head(DataStep::kReturn, 1),
          back(0)};
}

TEST(DataRecord, IsRead) {
  const Read it = read(text_of(record()));
  ASSERT_TRUE(it.data.has_value());
  const FunctionData& data = *it.data;
  EXPECT_TRUE(data.takes_memory);
  EXPECT_EQ(data.parameters, 1U);
  EXPECT_EQ(data.names.at(0), "n");
  ASSERT_EQ(data.objects.size(), 3U);
  EXPECT_EQ(data.objects[1].storage, FunctionData::Storage::shared_local);
  EXPECT_EQ(data.objects[2].name, "gl");
  EXPECT_FALSE(data.objects[2].is_of_unit);
  ASSERT_EQ(data.blocks.size(), 2U);
  const auto& steps = data.blocks[0].steps;
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].line, 7U);
  EXPECT_EQ(steps[0].uses.values, std::vector<uint32_t>{0});
  EXPECT_EQ(steps[0].writes, (std::vector<FunctionData::Part>{{.object = 1, .is_exact = true}}));
  EXPECT_EQ(steps[1].line, 8U);
  EXPECT_EQ(steps[1].scope, 3U);
  EXPECT_EQ(steps[1].value, 1U);
  ASSERT_TRUE(steps[1].call.has_value());
  EXPECT_TRUE(steps[1].call->reads && steps[1].call->writes && !steps[1].call->arguments_only);
  ASSERT_EQ(steps[1].call->arguments.size(), 2U);
  EXPECT_EQ(steps[1].call->arguments[0].addresses, std::vector<uint32_t>{1});
  EXPECT_EQ(
      steps[1].call->arguments[1].contents,
      (std::vector<FunctionData::Part>{{.object = 1, .begin = 4, .end = 12, .is_exact = true}}));
  EXPECT_EQ(steps[2].line, 8U);
  const auto& more = data.blocks[1].steps;
  ASSERT_EQ(more.size(), 3U);
  EXPECT_EQ(more[0].line, 0U);
  EXPECT_EQ(more[0].value, 2U);
  ASSERT_EQ(more[0].incoming.size(), 1U);
  EXPECT_EQ(more[0].incoming[0].uses.values, std::vector<uint32_t>{1});
  EXPECT_EQ(more[1].uses.values, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(more[1].writes.size(), 2U);
  ASSERT_EQ(data.results.size(), 2U);
  EXPECT_EQ(data.results[1].block, 1U);
}

TEST(DataRecord, DistancesOfValuesAreReversible) {
  for (const uint32_t next : {0U, 1U, 7U, 0xFFFFFFFEU}) {
    for (const uint32_t value : {0U, 1U, 6U, 7U, 8U, 0xFFFFFFFEU})
      EXPECT_EQ(data_value(next, data_distance(next, value)), value);
  }
  EXPECT_GT(data_value(3, 6), 0xFFFFFFFFU);
}

TEST(DataRecord, ThatIsCutIsDamaged) {
  const std::string whole = text_of(record());
  for (size_t size = 0; size < whole.size(); ++size) {
    const Read cut = read(whole.substr(0, size));
    EXPECT_FALSE(cut.data.has_value()) << size;
    EXPECT_TRUE(cut.is_damaged) << size;
  }
  EXPECT_TRUE(read(whole + '\0').is_damaged);
}

TEST(DataRecord, OfALaterVersionIsLeftOut) {
  Record later = record();
  ++later[0];
  const Read it = read(text_of(later));
  EXPECT_FALSE(it.data.has_value());
  EXPECT_FALSE(it.is_damaged);
}

TEST(DataRecord, ThatNamesWhatDoesNotExistIsDamaged) {
  const std::vector<Record> hostile = {
      // A value, an object, a written object, a block before a phi.
      {1, 0, 0, 0, 0, 1, 1, head(DataStep::kBranch, 1), item(0, DataUse::kValue)},
      {1, 0, 0, 0, 0, 1, 1, head(DataStep::kBranch, 1), item(1, DataUse::kContents)},
      {1, 0, 0, 0, 0, 1, 1, head(DataStep::kStore, 0), item(1, DataUse::kValue)},
      {1, 0, 0, 0, 0, 1, 1, head(DataStep::kPhi, 0), 1, 1, 0},
      // Of no kind; a written address; an unknown storage.
      {1, 0, 0, 0, 0, 1, 1, 7},
      {1, 0, 0, 0, 0, 1, 1, head(DataStep::kStore, 0), item(0, DataUse::kAddress)},
      {1, 0, 0, 0, 1, 9, 'x', 0, 0},
      // More names, objects, blocks, steps, uses, arguments and writes than bytes.
      {1, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F},
      {1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F},
      {1, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F},
      {1, 0, 0, 0, 0, 1, 0xFF, 0xFF, 0x03},
      {1, 0, 0, 0, 0, 1, 1, head(DataStep::kBranch, kDataManyUses), 0xFF, 0x7F},
      {1, 0, 0, 0, 0, 1, 1, head(DataStep::kCall, 0), 3, 0xFF, 0x7F},
      {1, 0, 0, 0, 0, 1, 1, head(DataStep::kEffect, 0), 0xFF, 0x7F},
      // Numbers that are too large, or too long.
      {1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0, 0, 0},
      {1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F},
  };
  for (size_t i = 0; i < hostile.size(); ++i) {
    const Read it = read(text_of(hostile[i]));
    EXPECT_FALSE(it.data.has_value()) << i;
    EXPECT_TRUE(it.is_damaged) << i;
  }
}

TEST(DataRecord, APartOfTooManyBytesMayBeAnything) {
  const Record huge = {1,
                       0,
                       0,
                       0,
                       1,
                       1,
                       'x',
                       0,
                       1,
                       1,
                       head(DataStep::kStore, 0),
                       item(1, DataUse::kRange),
                       2,
                       0xFF,
                       0xFF,
                       0xFF,
                       0xFF,
                       0xFF,
                       0xFF,
                       0xFF,
                       0xFF,
                       0xFF,
                       0x01};
  const Read it = read(text_of(huge));
  ASSERT_TRUE(it.data.has_value());
  EXPECT_EQ(it.data->blocks[0].steps[0].writes, (std::vector<FunctionData::Part>{{.object = 1}}));
}

}  // namespace
}  // namespace telltale
