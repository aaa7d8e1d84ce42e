#include "formats/xray/encode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/xray_builder.h"

namespace telltale::xray {
namespace {

using namespace std::string_view_literals;
using telltale::testing::FdrBuilder;

std::string encoded(const FdrPayload& payload, uint16_t version, std::endian order,
                    uint8_t unused = 0xEE) {
  std::string out;
  encode_fdr_record(payload, {version, order, std::byte{unused}}, out);
  return out;
}

// The bytes were derived by hand from the specification.
TEST(EncodeFdr, FunctionRecordsInBothBitOrders) {
  const FunctionRecord record{FunctionAction::tail_exit, 0x0ABCDEF, 0x11223344};
  EXPECT_EQ(encoded(record, 5, std::endian::little), "\xF4\xDE\xBC\x0A\x44\x33\x22\x11"sv);
  EXPECT_EQ(encoded(record, 5, std::endian::big), "\x20\xAB\xCD\xEF\x11\x22\x33\x44"sv);
}

TEST(EncodeFdr, EveryMetadataRecord) {
  using std::endian::big;
  using std::endian::little;
  EXPECT_EQ(encoded(NewBuffer{0x01020304}, 1, little),
            "\x01\x04\x03\x02\x01\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE"sv);
  EXPECT_EQ(encoded(NewBuffer{0x01020304}, 1, big),
            "\x80\x01\x02\x03\x04\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE"sv);
  EXPECT_EQ(encoded(EndOfBuffer{}, 1, little),
            "\x03\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE"sv);
  EXPECT_EQ(encoded(NewCpuId{0x0102, 0x1122334455667788}, 1, little),
            "\x05\x02\x01\x88\x77\x66\x55\x44\x33\x22\x11\xEE\xEE\xEE\xEE\xEE"sv);
  EXPECT_EQ(encoded(TscWrap{0x1122334455667788}, 1, big),
            "\x83\x11\x22\x33\x44\x55\x66\x77\x88\xEE\xEE\xEE\xEE\xEE\xEE\xEE"sv);
  EXPECT_EQ(encoded(WalltimeMarker{-2, 0x0A0B0C0D}, 1, little),
            "\x09\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x0D\x0C\x0B\x0A\xEE\xEE\xEE"sv);
  EXPECT_EQ(encoded(CallArgument{0x1122334455667788}, 1, little),
            "\x0D\x88\x77\x66\x55\x44\x33\x22\x11\xEE\xEE\xEE\xEE\xEE\xEE\xEE"sv);
  EXPECT_EQ(encoded(BufferExtents{0x1122334455667788}, 2, little),
            "\x0F\x88\x77\x66\x55\x44\x33\x22\x11\xEE\xEE\xEE\xEE\xEE\xEE\xEE"sv);
  EXPECT_EQ(encoded(Pid{-2}, 3, big),
            "\x89\xFF\xFF\xFF\xFE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE"sv);
  EXPECT_EQ(encoded(TypedEvent{2, 0x01020304, 0x0506, as_bytes("hi")}, 5, little),
            "\x11\x02\x00\x00\x00\x04\x03\x02\x01\x06\x05\xEE\xEE\xEE\xEE\xEEhi"sv);
}

TEST(EncodeFdr, CustomEventByVersion) {
  const CustomEvent event{2, 0x1122334455667788, 0x01020304, 0x0506, as_bytes("hi")};
  for (uint16_t version = 1; version <= 3; ++version) {
    EXPECT_EQ(encoded(event, version, std::endian::little),
              "\x0B\x02\x00\x00\x00\x88\x77\x66\x55\x44\x33\x22\x11\xEE\xEE\xEEhi"sv);
  }
  EXPECT_EQ(encoded(event, 4, std::endian::little),
            "\x0B\x02\x00\x00\x00\x88\x77\x66\x55\x44\x33\x22\x11\x06\x05\xEEhi"sv);
  EXPECT_EQ(encoded(event, 5, std::endian::little),
            "\x0B\x02\x00\x00\x00\x04\x03\x02\x01\xEE\xEE\xEE\xEE\xEE\xEE\xEEhi"sv);
}

TEST(EncodeBasic, BothRecordTypes) {
  std::string out;
  encode_basic_call(
      {BasicKind::tail_exit, 3, 0x01020304, 0x1122334455667788, 0x0A0B0C0D, 0x0E0F1011},
      {3, std::endian::little, std::byte{0xEE}}, out);
  EXPECT_EQ(out,
            "\x00\x00\x03\x02\x04\x03\x02\x01\x88\x77\x66\x55\x44\x33\x22\x11"
            "\x0D\x0C\x0B\x0A\x11\x10\x0F\x0E\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE"sv);
  out.clear();
  encode_basic_argument({0x01020304, 0x0A0B0C0D, 0x0E0F1011, 0x1122334455667788},
                        {2, std::endian::big, std::byte{0xEE}}, out);
  EXPECT_EQ(out,
            "\x00\x01\xEE\xEE\x01\x02\x03\x04\x0A\x0B\x0C\x0D\xEE\xEE\xEE\xEE"
            "\x11\x22\x33\x44\x55\x66\x77\x88\xEE\xEE\xEE\xEE\xEE\xEE\xEE\xEE"sv);
}

TEST(EncodeHeader, KeepsBitsAndBytesThatNoFieldClaims) {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    std::string file = FdrBuilder(3, order).unused(0xA9).bytes();
    EXPECT_EQ(static_cast<uint8_t>(file[5]), 0xA9);
    EXPECT_EQ(static_cast<uint8_t>(file[31]), 0xA9);
    const auto header = read_file_header(as_bytes(file));
    ASSERT_TRUE(header) << to_string(header.error());
    EXPECT_TRUE(header->constant_tsc);
    EXPECT_TRUE(header->nonstop_tsc);
    EXPECT_EQ(header->order, order);
    std::string again;
    encode_file_header(*header, again);
    EXPECT_EQ(again, file);
  }
}

// Encoded records are read back, and encoding them again gives the same bytes.
TEST(EncodeFdr, ReadsBack) {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    for (uint16_t version = 1; version <= 5; ++version) {
      FdrBuilder builder(version, order);
      builder.buffer({.tid = 7, .pid = 8, .cpu = 9, .tsc = 1000})
          .enter_args(kMaxFdrFunctionId, 0xFFFFFFFF)
          .argument(0xFEDCBA9876543210)
          .custom("payload", 3)
          .wrap(99)
          .exit(1, 2);
      const std::string file = builder.bytes();
      Cursor in(as_bytes(file).subspan(kFileHeaderBytes), order, kFileHeaderBytes);
      std::string again;
      std::vector<std::string_view> names;
      while (!in.at_end() && names.size() < 10) {
        const auto record = read_fdr_record(in, version);
        ASSERT_TRUE(record) << to_string(record.error());
        encode_fdr_record(record->payload, {version, order, std::byte{0}}, again);
        names.push_back(record_name(record->payload));
        if (names.back() == "EndOfBuffer") break;
      }
      EXPECT_EQ(again, file.substr(kFileHeaderBytes, again.size()));
      EXPECT_THAT(names, ::testing::Contains("CustomEventMarker"));
      if (version > 1) {
        EXPECT_EQ(again.size() + kFileHeaderBytes, file.size());
      }
    }
  }
}

TEST(FdrBuilder, ShortExtentsCutWhatTypedEventsCost) {
  FdrBuilder builder(5);
  builder.buffer({}).typed(3, "abc", 1).enter(1, 1).exit(1, 1).enter(1, 1).exit(1, 1);
  const std::string whole = builder.bytes();
  EXPECT_EQ(builder.short_extents_for_typed_events().bytes().size() + 16, whole.size());
}

TEST(FdrBuilder, Version1FillsItsBuffers) {
  const std::string file =
      FdrBuilder(1).buffer_size(256).filler(0xFF).buffer({}).enter(1, 0).buffer({}).bytes();
  EXPECT_EQ(file.size(), kFileHeaderBytes + 2 * 256);
  EXPECT_EQ(static_cast<uint8_t>(file.back()), 0xFF);
}

}  // namespace
}  // namespace telltale::xray
