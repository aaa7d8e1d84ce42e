#include "bytes/cursor.h"

#include <gtest/gtest.h>

#include "bytes/byte_writer.h"

namespace telltale {
namespace {

Bytes view(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(Cursor, ReadsIntegersInTheGivenByteOrder) {
  const std::string bytes =
      ByteWriter(std::endian::big).write(uint32_t{0x11223344}).write(int16_t{-2}).take();
  Cursor in(view(bytes), std::endian::big, 100);
  EXPECT_EQ(in.read<uint32_t>("a"), 0x11223344U);
  EXPECT_EQ(in.offset(), 104U);
  EXPECT_EQ(in.read<int16_t>("b"), -2);
  EXPECT_TRUE(in.at_end());
  EXPECT_FALSE(in.error());
}

TEST(Cursor, FirstFailureSticksAndIsPlaced) {
  const std::string bytes(6, '\x7f');
  Cursor in(view(bytes), std::endian::little, 1000);
  in.begin_record("Thing");
  in.read<uint32_t>("first");
  EXPECT_EQ(in.read<uint32_t>("second"), 0U);
  EXPECT_EQ(in.read<uint16_t>("third"), 0U) << "two bytes are left, but the cursor has failed";
  ASSERT_TRUE(in.error());
  EXPECT_EQ(to_string(*in.error()), "Thing at byte 1004: second needs 4 bytes, 2 are left");
}

TEST(Cursor, SplitCannotReadItsNeighbour) {
  const std::string bytes("abcdefgh");
  Cursor in(view(bytes), std::endian::little, 10);
  in.take(1, "skip");
  Cursor part = in.split(3, "part");
  EXPECT_EQ(part.offset(), 11U);
  EXPECT_EQ(part.left(), 3U);
  part.read<uint32_t>("too much");
  EXPECT_TRUE(part.error());
  EXPECT_FALSE(in.error());
  EXPECT_EQ(in.offset(), 14U);
}

TEST(Cursor, HugeLengthFailsWithoutWrapping) {
  const std::string bytes("abc");
  Cursor in(view(bytes));
  in.read<uint8_t>("a");
  EXPECT_TRUE(in.take(~uint64_t{0}, "payload").empty());
  EXPECT_TRUE(in.error());
}

}  // namespace
}  // namespace telltale
