#include "formats/mono/writer.h"

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bytes/as_bytes.h"
#include "formats/mono/frames.h"
#include "formats/mono/verifier.h"
#include "support/golden.h"
#include "support/mono_samples.h"

namespace telltale::mono {
namespace {

using testing::MonoBuilder;
using testing::mono_samples::buffer_header;
using testing::mono_samples::kMethods;
using testing::mono_samples::kObjects;
using testing::mono_samples::kPointers;

ByteSink into(std::string& out) {
  return [&out](std::string_view block) -> Result<void> {
    out += block;
    return {};
  };
}

std::string rewritten(std::string_view file) {
  std::string out;
  const auto done = rewrite_recording(as_bytes(file), into(out));
  EXPECT_TRUE(done);
  return out;
}

struct Converted {
  std::string bytes;
  ConversionLoss loss;
  ProblemLog problems;
};
Converted converted(std::string_view file, uint8_t version) {
  Converted out;
  const auto loss = convert_recording(as_bytes(file), "f", version, into(out.bytes), out.problems);
  EXPECT_TRUE(loss);
  if (loss) out.loss = *loss;
  return out;
}

// The contents of a recording, in order.
struct Facts {
  std::map<EventKind, uint64_t> kinds;
  std::vector<uint64_t> words;
  template <typename Record>
  void event(const EventHead& head, const Record& record) {
    ++kinds[head.kind];
    if constexpr (requires { record.size; }) words.push_back(record.size);
    if constexpr (requires { record.object; }) words.push_back(record.object);
    if constexpr (requires { record.method; }) words.push_back(record.method);
    if constexpr (requires { record.backtrace; })
      words.insert(words.end(), record.backtrace.begin(), record.backtrace.end());
    if constexpr (std::is_same_v<Record, Alloc>) words.push_back(record.type);
    if constexpr (std::is_same_v<Record, Call>) words.push_back(head.time);
  }
};
Facts facts_of(std::string_view text) {
  const Bytes file = as_bytes(text);
  const auto header = read_file_header(file);
  EXPECT_TRUE(header);
  const BufferFrames frames = frame_file(file, *header, "f");
  Facts facts;
  for (const BufferFrame& frame : frames.buffers) {
    const DecodeEnd end =
        decode_buffer(frame.events(file), frame.header.bases(header->address_mask()), frame.begin,
                      find_layout(file, *header, frames), facts);
    EXPECT_FALSE(end.error);
  }
  return facts;
}

TEST(MonoWriter, GoldenFilesAreWhatTheWriterMakes) {
  for (const testing::MonoSample& sample : testing::valid_mono_samples()) {
    const std::string path = "mono/" + sample.name;
    EXPECT_TRUE(testing::golden(path, sample.bytes) == sample.bytes) << path;
  }
}

TEST(MonoWriter, WhatIsNotChangedKeepsItsBytes) {
  for (const testing::MonoSample& sample : testing::valid_mono_samples())
    EXPECT_TRUE(rewritten(sample.bytes) == sample.bytes) << sample.name;
}

TEST(MonoWriter, LongSpellingsOfNumbersAreKept) {
  using namespace std::string_literals;
  const std::string file =
      MonoBuilder(17)
          .buffer(buffer_header(1, 1))
          .raw_event("\x23\x81\x80\x00\x88\x80\x80\x00"s)          // enter
          .raw_event("\x00\x81\x00\x80\x00\x82\x00\x98\x80\x00"s)  // alloc
          .raw_event(
              "\x06\x80\x00\x26\x81\x00\x82\x00\x83\x00\x84\x00\x01\x81\x00\x90\x00\x84\x00"s)
          .bytes();
  EXPECT_EQ(rewritten(file), file);
  Facts facts = facts_of(file);
  EXPECT_EQ(facts.kinds[EventKind::heap_object], 1U);
  EXPECT_EQ(facts.words.front(), kMethods + 8);
}

TEST(MonoWriter, DamageAndGapsAreKept) {
  const std::string whole = testing::every_mono_event(17).bytes();
  MonoBuilder file(12);
  file.raw("stray").buffer(buffer_header(1, 1)).enter(1, kMethods).raw_event("\xFF\x01\x02");
  file.raw("more").buffer(buffer_header(2, 1)).enter(1, kMethods);
  const std::string damaged = file.bytes();
  EXPECT_EQ(rewritten(damaged), damaged);
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string_view cut = std::string_view(whole).substr(0, size);
    std::string out;
    if (rewrite_recording(as_bytes(cut), into(out))) {
      ASSERT_EQ(out, cut) << size;
    }
  }
}

TEST(MonoWriter, FlippedBitsNeverChangeWhatRewritingGives) {
  for (const auto version : std::to_array<uint8_t>({1, 11, 13, 17})) {
    std::string file = testing::every_mono_event(version).bytes();
    for (size_t bit = 0; bit < 8 * file.size(); bit += 3) {
      const char old = file[bit / 8];
      file[bit / 8] = static_cast<char>(old ^ (1 << (bit % 8)));
      std::string out;
      if (rewrite_recording(as_bytes(file), into(out))) {
        ASSERT_EQ(out, file) << int{version} << " bit " << bit;
      }
      file[bit / 8] = old;
    }
  }
}

TEST(MonoWriter, EveryVersionConvertsToBothAndIsValidThere) {
  for (const testing::MonoSample& sample : testing::valid_mono_samples()) {
    for (const uint8_t target : {kPublishedVersion, kLastVersion}) {
      const Converted out = converted(sample.bytes, target);
      EXPECT_EQ(out.problems.count(), 0U) << sample.name;
      const auto verdict = verify_recording(as_bytes(out.bytes));
      ASSERT_TRUE(verdict) << sample.name;
      EXPECT_EQ(verdict->header.version, target);
      EXPECT_TRUE(verdict->valid())
          << sample.name << " as " << int{target} << ": " << to_string(*verdict->first);
      Facts before = facts_of(sample.bytes);
      Facts after = facts_of(out.bytes);
      for (const EventKind kind : {EventKind::alloc, EventKind::call, EventKind::jit,
                                   EventKind::gc_move, EventKind::heap_object, EventKind::monitor,
                                   EventKind::exception_throw, EventKind::exception_clause})
        EXPECT_EQ(before.kinds[kind], after.kinds[kind]) << sample.name << " " << event_name(kind);
    }
  }
}

// Up and down again: version 1's data survives version 17.
TEST(MonoWriter, TheVersionsThereAndBackAgain) {
  MonoBuilder file(1);
  const std::array<uint64_t, 2> stack = {kMethods + 8, kMethods - 64};
  file.buffer(buffer_header(3, 10)).enter(1, kMethods);
  file.event(Group::alloc, info::kAllocBacktrace, 1,
             Alloc{.type = kPointers + 8, .object = kObjects, .size = 24, .backtrace = stack});
  file.leave(7, kMethods);
  const std::string original = file.bytes();
  const Converted up = converted(original, kLastVersion);
  const Converted down = converted(up.bytes, kPublishedVersion);
  EXPECT_EQ(down.bytes, original);
  EXPECT_EQ(up.loss.counts, ConversionLoss().counts);
  // Only the vtable that version 17 needs is lost on the way back.
  EXPECT_EQ(down.loss.count(ConversionLoss::Reason::loads), 1U);
}

// Other readers only look at the bit, whatever the action is: if it is set, a backtrace must
// follow.
TEST(MonoWriter, OnlyContentionsKeepTheBitOfABacktraceBeforeVersion14) {
  const std::array<uint64_t, 2> stack = {kMethods + 8, kMethods - 64};
  MonoBuilder file(17);
  file.buffer(buffer_header(3, 10));
  for (const auto action : std::to_array<uint8_t>({1, 2, 3, 1, 3})) {
    file.event(Group::monitor, info::kMonitorBacktrace, 1,
               Monitor{.action = action, .object = kObjects, .backtrace = stack});
    file.event(Group::monitor, 0, 1, Monitor{.action = action, .object = kObjects});
  }
  const Converted down = converted(file.bytes(), kPublishedVersion);
  struct FirstBytes {
    std::vector<unsigned> seen;
    void event(const EventHead& head, const Monitor&) { seen.push_back(head.first_byte); }
  } visitor;
  const auto header = read_file_header(as_bytes(down.bytes));
  ASSERT_TRUE(header);
  const BufferFrames frames = frame_file(as_bytes(down.bytes), *header, "f");
  ASSERT_EQ(frames.buffers.size(), 1U);
  const DecodeEnd end = decode_buffer(frames.buffers[0].events(as_bytes(down.bytes)),
                                      frames.buffers[0].header.bases(header->address_mask()), 0,
                                      layout_of(kPublishedVersion), visitor);
  EXPECT_FALSE(end.error);
  EXPECT_EQ(visitor.seen,
            (std::vector<unsigned>{0x95, 0x15, 0x25, 0x25, 0x35, 0x35, 0x95, 0x15, 0x35, 0x35}));
  EXPECT_EQ(down.loss.count(ConversionLoss::Reason::event_parts), 3U);
  const Converted up = converted(down.bytes, kLastVersion);
  EXPECT_EQ(converted(up.bytes, kPublishedVersion).bytes, down.bytes);
}

// Up to version 12 these are written later than they happened, with a time of their own.
TEST(MonoWriter, SamplesAndCountersKeepTheirTimesAndThreads) {
  struct Times {
    std::vector<uint64_t> samples, threads, counters, calls;
    void event(const EventHead& head, const SampleHit& hit) {
      samples.push_back(head.time);
      threads.push_back(hit.thread);
    }
    void event(const EventHead& head, const Counters&) { counters.push_back(head.time); }
    void event(const EventHead& head, const Call&) { calls.push_back(head.time); }
  };
  for (uint8_t version = 5; version <= 12; ++version) {
    const SampleFrame plain{.method = kMethods};
    const SampleFrame offset{.method = kMethods, .il_offset = 3};
    MonoBuilder file(version);
    file.buffer(buffer_header(3, 5'000'000)).enter(10, kMethods);
    for (const auto& [type, frame] :
         std::to_array<std::pair<uint64_t, SampleFrame>>({{1, plain}, {1, offset}, {2, plain}})) {
      file.event(
          Group::sample, info::kSampleHit, 0,
          SampleHit{
              .type = type, .timestamp = 4'000'123, .thread = 8, .frames = std::span(&frame, 1)});
    }
    file.event(Group::sample, info::kSampleCounters, 0, Counters{.timestamp_ms = 2});
    file.leave(7, kMethods);
    file.buffer(buffer_header(4, 1'000'000));
    const Converted up = converted(file.bytes(), kLastVersion);
    const auto header = read_file_header(as_bytes(up.bytes));
    ASSERT_TRUE(header);
    Times times;
    for (const BufferFrame& frame : frame_file(as_bytes(up.bytes), *header, "f").buffers) {
      const DecodeEnd end =
          decode_buffer(frame.events(as_bytes(up.bytes)),
                        frame.header.bases(header->address_mask()), 0, layout_of(17), times);
      EXPECT_FALSE(end.error);
    }
    const uint64_t sampled = version < 6 ? 5'000'010 : 4'000'123;
    EXPECT_EQ(times.samples, std::vector<uint64_t>(3, sampled)) << int{version};
    EXPECT_EQ(times.threads, std::vector<uint64_t>(3, version < 11 ? 3 : 8)) << int{version};
    EXPECT_EQ(times.counters, std::vector<uint64_t>{3'000'000}) << int{version};
    EXPECT_EQ(times.calls, (std::vector<uint64_t>{5'000'010, 5'000'017})) << int{version};
    EXPECT_EQ(up.loss.count(ConversionLoss::Reason::event_parts), version < 6 ? 1U : 2U);
  }
}

TEST(MonoWriter, WhatVersion1CanSayComesBackFromVersion17AsItWas) {
  for (const testing::MonoSample& sample : testing::valid_mono_samples()) {
    // Even in version 1: git builds of that time wrote handles, which the published text does not
    // have.
    const std::string published =
        converted(converted(sample.bytes, kLastVersion).bytes, kPublishedVersion).bytes;
    const std::string last = converted(published, kLastVersion).bytes;
    EXPECT_EQ(converted(last, kPublishedVersion).bytes, published) << sample.name;
  }
}

TEST(MonoWriter, LossIsCountedByReason) {
  const Converted out = converted(testing::every_mono_event(17).bytes(), kPublishedVersion);
  using enum ConversionLoss::Reason;
  for (const auto reason :
       {header_strings, loads, handles, roots, samples, counters, runtime_code, marks, event_parts})
    EXPECT_GT(out.loss.count(reason), 0U) << loss_text(reason);
  EXPECT_EQ(out.loss.count(handles), 8U);
  EXPECT_EQ(out.loss.count(unknown_types), 0U);
}

TEST(MonoWriter, AChangedEventIsWrittenAnew) {
  const std::string raw("\x23\x81\x80\x00\x05", 5);
  const Layout layout = layout_of(17);
  BufferBases bases{.time = 10, .method = 100};
  std::string out;
  write_event(EventHead{.first_byte = kEnterByte, .time = 11}, Call{.method = 164}, layout, bases,
              as_bytes(raw), out);
  EXPECT_EQ(out, std::string("\x23\x81\x80\x00\xC0\x00", 6));  // the unchanged time
  EXPECT_EQ(bases.method, 164U);
}

}  // namespace
}  // namespace telltale::mono
