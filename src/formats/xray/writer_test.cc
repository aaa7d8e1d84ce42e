#include "formats/xray/writer.h"

#include <gtest/gtest.h>

#include <string>

#include "formats/xray/fdr_file_walk.h"
#include "support/xray_samples.h"

namespace telltale::xray {
namespace {

std::string rewritten(std::string_view file) {
  std::string out;
  const ByteSink sink = [&](std::string_view block) -> Result<void> {
    out += block;
    return {};
  };
  const Result<void> done = rewrite_trace(as_bytes(file), sink);
  EXPECT_TRUE(done) << to_string(done.error());
  return out;
}

TEST(RewriteTrace, GivesTheSameBytes) {
  for (const testing::Sample& sample : testing::all_samples()) {
    EXPECT_TRUE(rewritten(sample.bytes) == sample.bytes) << sample.name;
  }
}

TEST(RewriteTrace, GivesTheSameBytesForEveryPrefix) {
  for (const testing::Sample& sample : testing::all_samples()) {
    for (size_t size = kFileHeaderBytes; size < sample.bytes.size(); ++size) {
      const std::string_view cut = std::string_view(sample.bytes).substr(0, size);
      ASSERT_TRUE(rewritten(cut) == cut) << sample.name << " cut at " << size;
    }
  }
}

TEST(RewriteTrace, StopsAtTheSinksError) {
  size_t calls = 0;
  const ByteSink full = [&](std::string_view) -> Result<void> {
    ++calls;
    return std::unexpected(Error{Error::Cause::io, "out", {}, "no space left", {}});
  };
  std::string big = testing::FdrBuilder(5).bytes() + std::string(3 * BlockWriter::kBlockBytes, 'x');
  const Result<void> done = rewrite_trace(as_bytes(big), full);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().detail, "no space left");
  EXPECT_EQ(calls, 1U);
}

TEST(RewriteRecord, ChangesOnlyWhatChanged) {
  const std::string file = testing::FdrBuilder(5).unused(0xA5).buffer({.tid = 7}).bytes();
  const Result<FileHeader> header = read_file_header(as_bytes(file));
  ASSERT_TRUE(header);
  Cursor in(as_bytes(file).subspan(kFileHeaderBytes + kMetadataRecordBytes), header->order, 48);
  Result<FdrRecord> record = read_fdr_record(in, 5);
  ASSERT_TRUE(record);
  std::get<NewBuffer>(record->payload).tid = 0x09080706;
  std::string out;
  rewrite_fdr_record(*record, *header, out);
  std::string expected = file.substr(48, 16);
  expected.replace(1, 4, "\x06\x07\x08\x09");
  EXPECT_EQ(out, expected);
}

// The visited bytes are the file, each exactly once.
struct Tally {
  uint64_t bytes = 0;
  uint64_t next = kFileHeaderBytes;
  bool in_order = true;
  void add(uint64_t offset, uint64_t size) {
    in_order = in_order && offset == next;
    next = offset + size;
    bytes += size;
  }
  void begin_buffer(const BufferFrame&) {}
  void end_buffer(const BufferFrame&) {}
  void problem(const Problem&) {}
  void function(uint64_t offset, const FunctionRecord&) { add(offset, kFunctionRecordBytes); }
  void metadata(const FdrRecord& record) { add(record.offset, record.raw.size()); }
  void skipped(const SkippedBytes& skipped) { add(skipped.offset, skipped.bytes.size()); }
};

TEST(WalkFdrFile, TellsEveryByteOnceAndInOrder) {
  for (const testing::Sample& sample : testing::all_samples()) {
    const Result<FileHeader> header = read_file_header(as_bytes(sample.bytes));
    ASSERT_TRUE(header) << sample.name;
    if (header->type != LogType::fdr) continue;
    Tally tally;
    walk_fdr_file(as_bytes(sample.bytes), *header,
                  frame_fdr_file(as_bytes(sample.bytes), *header, sample.name), sample.name, tally);
    EXPECT_TRUE(tally.in_order) << sample.name;
    EXPECT_EQ(tally.bytes + kFileHeaderBytes, sample.bytes.size()) << sample.name;
  }
}

}  // namespace
}  // namespace telltale::xray
