#include "formats/mono/reader.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "bytes/as_bytes.h"
#include "formats/mono/frames.h"
#include "formats/mono/writer.h"
#include "support/mono_samples.h"

namespace telltale::mono {
namespace {

using testing::MonoBuilder;
using testing::mono_samples::buffer_header;
using testing::mono_samples::kMethods;

struct CountKinds {
  std::array<uint64_t, kEventKinds> kinds{};
  uint64_t events = 0;
  template <typename Record>
  void event(const EventHead& head, const Record&) {
    ++kinds[static_cast<size_t>(head.kind)];
    ++events;
  }
};

// Both ways of reading calls.
struct CallsOfRuns {
  std::vector<std::array<uint64_t, 3>> all;
  void calls(CallRun& run) {
    run.for_each([&](Call::Action action, uint64_t time, uint64_t method) {
      all.push_back({static_cast<uint64_t>(action), time, method});
    });
  }
};
struct SingleCalls {
  std::vector<std::array<uint64_t, 3>> all;
  void event(const EventHead& head, const Call& call) {
    all.push_back({static_cast<uint64_t>(call.action), head.time, call.method});
  }
};

template <typename Visitor>
DecodeEnd decode_first(const std::string& file, Visitor& visitor) {
  const auto header = read_file_header(as_bytes(file));
  EXPECT_TRUE(header);
  const BufferFrames frames = frame_file(as_bytes(file), *header, "f");
  const BufferFrame& frame = frames.buffers.at(0);
  return decode_buffer(frame.events(as_bytes(file)), frame.header.bases(header->address_mask()),
                       frame.begin, find_layout(as_bytes(file), *header, frames), visitor);
}

TEST(MonoReader, EveryVersionHasEveryEventOfItsTable) {
  for (const testing::MonoSample& sample : testing::valid_mono_samples()) {
    const Bytes file = as_bytes(sample.bytes);
    const auto header = read_file_header(file);
    ASSERT_TRUE(header) << sample.name;
    const BufferFrames frames = frame_file(file, *header, sample.name);
    EXPECT_EQ(frames.problems.count(), 0U) << sample.name;
    const Layout layout = find_layout(file, *header, frames);
    CountKinds count;
    for (const BufferFrame& frame : frames.buffers) {
      const DecodeEnd end =
          decode_buffer(frame.events(file), frame.header.bases(header->address_mask()), frame.begin,
                        layout, count);
      EXPECT_FALSE(end.error) << sample.name << ": " << to_string(*end.error);
      EXPECT_EQ(end.offset, frame.end);
    }
    if (!sample.name.starts_with('v')) continue;  // only complete samples
    for (unsigned byte = 0; byte < 256; ++byte) {
      const uint8_t kind = layout.events.kind[byte];
      if (kind == EventTable::kNone) continue;
      EXPECT_GT(count.kinds[kind], 0U)
          << sample.name << " has no " << event_name(static_cast<EventKind>(kind));
    }
  }
}

TEST(MonoReader, HeaderFields) {
  const std::string old_file = MonoBuilder(1).bytes();
  EXPECT_EQ(old_file.size(), 32U);
  const auto first = read_file_header(as_bytes(old_file));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->pid, 0x31323334U);
  EXPECT_EQ(first->startup_ms, 0x0102'0304'0506U);
  const std::string new_file = MonoBuilder(17).bytes();
  const auto last = read_file_header(as_bytes(new_file));
  ASSERT_TRUE(last);
  EXPECT_EQ(last->startup_ns, 0x1112'1314'1516U);
  EXPECT_EQ(last->architecture, "x86-64");
  EXPECT_EQ(last->port, 0x4142U);
  EXPECT_EQ(last->bytes, new_file.size());

  std::string bad = new_file;
  bad[6] = 18;
  EXPECT_EQ(read_file_header(as_bytes(bad)).error().cause, Error::Cause::unsupported_version);
  bad = new_file;
  bad[7] = 5;
  EXPECT_EQ(read_file_header(as_bytes(bad)).error().cause, Error::Cause::bad_field);
  bad = new_file;
  bad[41] = '\x80';  // the arguments' length is negative
  EXPECT_EQ(read_file_header(as_bytes(bad)).error().cause, Error::Cause::bad_field);
  for (size_t size = 0; size < new_file.size(); ++size)
    EXPECT_FALSE(read_file_header(as_bytes(new_file).first(size))) << size;
}

TEST(MonoReader, CallsOfEveryLengthAreReadAlikeByTheFastLaneAndOneByOne) {
  MonoBuilder file(17);
  file.buffer(buffer_header(1, 5));
  uint64_t step = 1;
  for (unsigned bits = 0; bits < 64; ++bits, step = step * 2 + bits % 2) {
    file.enter(step, kMethods + (step << 1));
    file.leave(bits, kMethods - step);
  }
  file.enter(~uint64_t{0}, 0).leave(0, ~uint64_t{0});  // time goes back by one
  const std::string bytes = file.bytes();
  CallsOfRuns fast;
  SingleCalls single;
  EXPECT_FALSE(decode_first(bytes, fast).error);
  EXPECT_FALSE(decode_first(bytes, single).error);
  ASSERT_EQ(fast.all.size(), 130U);
  EXPECT_EQ(fast.all, single.all);
  EXPECT_EQ(fast.all[0], (std::array<uint64_t, 3>{2, 6, kMethods + 2}));
  EXPECT_EQ(fast.all[1], (std::array<uint64_t, 3>{1, 6, kMethods - 1}));
  EXPECT_EQ(fast.all[128][1], fast.all[127][1] - 1);
}

TEST(MonoReader, UnexpectedValueCostsTheRestOfItsBuffer) {
  MonoBuilder file(17);
  file.buffer(buffer_header(1, 100)).enter(1, kMethods).raw_event("\xFF").enter(1, kMethods);
  file.buffer(buffer_header(1, 200)).enter(1, kMethods);
  const std::string bytes = file.bytes();
  CallsOfRuns calls;
  const DecodeEnd end = decode_first(bytes, calls);
  ASSERT_TRUE(end.error);
  EXPECT_EQ(end.error->detail, "no event begins with 0xff in data version 17");
  EXPECT_EQ(calls.all.size(), 1U);
  EXPECT_EQ(std::to_integer<uint8_t>(as_bytes(bytes)[end.offset]), 0xFF);
}

TEST(MonoReader, NumbersThatAreTooLongOrNeverEndAreErrors) {
  for (const char* raw : {"\x23\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
                          "\x23\x01\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "\x23\x80"}) {
    const std::string bytes = MonoBuilder(17).buffer(buffer_header(1, 1)).raw_event(raw).bytes();
    CallsOfRuns fast;
    SingleCalls single;
    const DecodeEnd one = decode_first(bytes, fast);
    const DecodeEnd other = decode_first(bytes, single);
    ASSERT_TRUE(one.error && other.error);
    EXPECT_EQ(to_string(*one.error), to_string(*other.error));
    EXPECT_EQ(one.offset, other.offset);
    EXPECT_TRUE(fast.all.empty());
  }
}

// A length with more items than bytes is rejected before anything is allocated for it.
TEST(MonoReader, HostileLengths) {
  const std::string many = std::string(9, '\xFF') + '\x01';
  for (const std::string& event :
       {std::string("\x31\x01", 2) + many, std::string("\x10\x01\x01\x01\x01", 5) + many,
        std::string("\x36\x01", 2) + many, std::string("\x07\x01\x01", 3) + many,
        std::string("\x37\x01", 2) + many, std::string("\x26\x01\x01\x01\x01\x01", 6) + many}) {
    const std::string bytes = MonoBuilder(17).buffer(buffer_header(1, 1)).raw_event(event).bytes();
    CountKinds count;
    const DecodeEnd end = decode_first(bytes, count);
    ASSERT_TRUE(end.error);
    EXPECT_EQ(end.error->cause, Error::Cause::truncated);
    EXPECT_EQ(count.events, 0U);
  }
}

TEST(MonoReader, IntsThatWereNegativeAreTakenAsTheyWere) {
  std::string event("\x02\x01\x01\x02", 4);  // becomes an allocation: type, object
  event[0] = '\x00';
  append_uleb(event, 0xFFFF'FFFF'8000'0000);
  const std::string bytes = MonoBuilder(17).buffer(buffer_header(1, 1)).raw_event(event).bytes();
  struct {
    uint64_t size = 0;
    void event(const EventHead&, const Alloc& alloc) { size = alloc.size; }
  } visitor;
  EXPECT_FALSE(decode_first(bytes, visitor).error);
  EXPECT_EQ(visitor.size, 0x8000'0000U);
}

TEST(MonoReader, SmallPointersWrapAround) {
  MonoBuilder file(17, 4);
  file.buffer({.time_base = 1, .pointer_base = 0xFFFF'FFF0, .method_base = 0xFFFF'FFF8});
  file.enter(1, 8);
  const std::string bytes = file.bytes();
  CallsOfRuns calls;
  EXPECT_FALSE(decode_first(bytes, calls).error);
  ASSERT_EQ(calls.all.size(), 1U);
  EXPECT_EQ(calls.all[0][2], 8U);
}

}  // namespace
}  // namespace telltale::mono
