#include "bytes/decompress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "bytes/as_bytes.h"
#include "support/compressed.h"

namespace telltale {
namespace {

using testing::HasSubstr;

// What decompress_whole makes of `packed`, by its first bytes.
Result<std::string> whole(const std::string& packed, const InputLimits& limits = {}) {
  return decompress_whole(compression_of(as_bytes(packed)), as_bytes(packed), limits);
}

TEST(DecompressWhole, ReadsAllMembers) {
  EXPECT_EQ(whole(gzip("a report")).value(), "a report");
  EXPECT_EQ(whole(zstd("a report")).value(), "a report");
  EXPECT_EQ(whole(gzip("a ") + gzip("report")).value(), "a report");
  const std::string large(3 << 20, 'x');
  EXPECT_TRUE(whole(zstd(large), {.max_ratio = 0}).value() == large);
}

TEST(DecompressWhole, APrefixIsNotWhole) {
  for (const std::string& packed : {gzip("a report"), zstd("a report")}) {
    for (size_t length = 4; length < packed.size(); ++length) {
      const auto read = whole(packed.substr(0, length));
      ASSERT_FALSE(read) << length;
      EXPECT_EQ(read.error().cause, Error::Cause::bad_field);
      EXPECT_THAT(read.error().detail, HasSubstr("not whole")) << length;
    }
  }
}

TEST(DecompressWhole, DamageIsNamedByTheDecoder) {
  for (std::string packed : {gzip("a report"), zstd("a report")}) {
    packed.back() ^= 1;  // of the length or checksum
    const auto read = whole(packed);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().cause, Error::Cause::bad_field);
    EXPECT_THAT(read.error().detail, testing::Not(HasSubstr("not whole")));
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
