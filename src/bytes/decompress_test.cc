#include "bytes/decompress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "bytes/as_bytes.h"
#include "bytes/byte_source.h"
#include "support/compressed.h"

namespace telltale {
namespace {

using ::testing::HasSubstr;

// What decompress_whole makes of `packed`, by its first bytes.
Result<std::string> whole(const std::string& packed, const InputLimits& limits = {}) {
  return decompress_whole(compression_of(as_bytes(packed)), as_bytes(packed), limits);
}

TEST(DecompressWhole, ReadsAllMembers) {
  EXPECT_EQ(whole(gzip("a report")).value(), "a report");
  EXPECT_EQ(whole(zstd("a report")).value(), "a report");
  EXPECT_EQ(whole(gzip("a ") + gzip("report")).value(), "a report");
  EXPECT_EQ(whole(xz("a ") + xz("report")).value(), "a report");
  EXPECT_EQ(whole(lz4("a ") + lz4("report")).value(), "a report");
  const std::string large(3 << 20, 'x');
  for (const std::string& packed : {zstd(large), xz(large), lz4(large)})
    EXPECT_TRUE(whole(packed, {.max_ratio = 0}).value() == large);
}

// The output's buffer is full where the first member ends.
TEST(DecompressWhole, AMemberMayFillTheOutput) {
  const std::string step(ByteSource::kStepBytes, 'x');
  for (const std::string& packed :
       {gzip(step) + gzip("y"), zstd(step) + zstd("y"), xz(step) + xz("y"), lz4(step) + lz4("y")})
    EXPECT_TRUE(whole(packed, {.max_ratio = 0}).value() == step + "y");
}

TEST(DecompressWhole, APrefixIsNotWhole) {
  for (const std::string& packed : {gzip("a report"), zstd("a report"), xz("a report"),
                                    lz4("a report"), lz4(std::string(99, 'x'))}) {
    for (size_t length = 4; length < packed.size(); ++length) {
      const auto read = whole(packed.substr(0, length));
      ASSERT_FALSE(read) << length;
      EXPECT_EQ(read.error().cause, Error::Cause::bad_field);
      EXPECT_THAT(read.error().detail, HasSubstr("not whole")) << length;
    }
  }
}

TEST(DecompressWhole, DamageIsNamedByTheDecoder) {
  for (std::string packed : {gzip("a report"), zstd("a report"), lz4("a report")}) {
    packed.back() ^= 1;  // of the length or checksum
    const auto read = whole(packed);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().cause, Error::Cause::bad_field);
    EXPECT_THAT(read.error().detail, ::testing::Not(HasSubstr("not whole")));
  }
}

// As the program lz4 writes it: matches that overlap themselves, and one into earlier text.
TEST(DecompressWhole, AFrameOfTheProgramLz4) {
  constexpr unsigned char kFrame[] = {
      0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82, 0x1c, 0x00, 0x00, 0x00, 0x3f, 0x61, 0x62, 0x63,
      0x03, 0x00, 0x08, 0x96, 0x2d, 0x74, 0x65, 0x6c, 0x6c, 0x74, 0x61, 0x6c, 0x65, 0x09, 0x00,
      0x07, 0x2e, 0x00, 0x50, 0x63, 0x61, 0x62, 0x63, 0x0a, 0x00, 0x00, 0x00, 0x00};
  const std::string packed(reinterpret_cast<const char*>(kFrame), sizeof kFrame);
  EXPECT_EQ(whole(packed).value(),
            "abcabcabcabcabcabcabcabcabcabc-telltale-telltale-abcabcabcabcabc\n");
  // Damage is found, whatever it is: a match further back than there is text, a literal longer than
  // the block, a block that is too large, an unknown version, a checksum of the head.
  for (const auto& [at, byte] :
       {std::pair{15, 0x09}, {11, 0xff}, {9, 0x02}, {4, 0x20}, {6, 0x83}}) {
    std::string other = packed;
    other[static_cast<size_t>(at)] = static_cast<char>(byte);
    const auto read = whole(other);
    ASSERT_FALSE(read) << at;
    EXPECT_EQ(read.error().cause, Error::Cause::bad_field);
  }
}

TEST(DecompressWhole, OtherBytesBehindTheStreamAreRefused) {
  for (const std::string& packed : {gzip("a report"), zstd("a report")}) {
    const auto read = whole(packed + "more");
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().detail, HasSubstr("followed by other bytes"));
  }
}

TEST(DecompressWhole, TheSizeIsLimited) {
  const std::string text(1000, 'x');
  for (const std::string& packed : {gzip(text), zstd(text)}) {
    EXPECT_EQ(whole(packed, {.max_decompressed_bytes = 1000}).value(), text);
    const auto read = whole(packed, {.max_decompressed_bytes = 999});
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().cause, Error::Cause::limit);
  }
}

TEST(DecompressWhole, ABombIsRefused) {
  const std::string zeros(4 << 20, '\0');
  for (const std::string& packed : {gzip(zeros, 9), zstd(zeros)}) {
    const auto read = whole(packed);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().cause, Error::Cause::limit);
    EXPECT_THAT(read.error().detail, HasSubstr("bomb"));
  }
}

}  // namespace
}  // namespace telltale
