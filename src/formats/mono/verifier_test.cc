#include "formats/mono/verifier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "bytes/as_bytes.h"
#include "formats/mono/frames.h"
#include "support/mono_samples.h"

namespace telltale::mono {
namespace {

using testing::MonoBuilder;
using testing::mono_samples::buffer_header;
using testing::mono_samples::kMethods;
using testing::mono_samples::kObjects;
using Kind = Violation::Kind;

// The kinds of violations in a file.
std::vector<Kind> violations(const std::string& file) {
  const auto verdict = verify_recording(as_bytes(file));
  EXPECT_TRUE(verdict);
  std::vector<Kind> kinds;
  for (size_t i = 0; i < Violation::kKinds; ++i)
    if (verdict->counts[i] != 0) kinds.push_back(static_cast<Kind>(i));
  EXPECT_EQ(kinds.empty(), verdict->valid());
  return kinds;
}
std::vector<Kind> only(Kind kind) { return {kind}; }

MonoBuilder open_buffer(uint8_t version = 17) {
  MonoBuilder file(version);
  file.buffer(buffer_header(1, 1000));
  return file;
}

TEST(MonoVerifier, SamplesAreValid) {
  for (const testing::MonoSample& sample : testing::valid_mono_samples())
    EXPECT_EQ(violations(sample.bytes), std::vector<Kind>()) << sample.name;
}

TEST(MonoVerifier, TimesOfAThreadNeverGoBack) {
  EXPECT_EQ(violations(open_buffer().enter(5, kMethods).leave(~uint64_t{0}, kMethods).bytes()),
            only(Kind::time_goes_back));
  EXPECT_EQ(violations(open_buffer()
                           .enter(5, kMethods)
                           .buffer(buffer_header(1, 1004))
                           .leave(9, kMethods)
                           .bytes()),
            only(Kind::time_goes_back));
  // Other threads' times do not matter, nor those of events whose time another thread took.
  EXPECT_EQ(
      violations(
          open_buffer().enter(5, kMethods).buffer(buffer_header(2, 4)).leave(9, kMethods).bytes()),
      std::vector<Kind>());
  EXPECT_EQ(violations(
                open_buffer().jit(5, kMethods, "a").jit(~uint64_t{0} - 100, kMethods, "b").bytes()),
            std::vector<Kind>());
}

TEST(MonoVerifier, MovesComeInPairs) {
  const std::array<uint64_t, 3> odd = {kObjects, kObjects + 8, kObjects + 16};
  EXPECT_EQ(
      violations(open_buffer().event(Group::gc, info::kGcMove, 1, GcMove{.objects = odd}).bytes()),
      only(Kind::odd_moves));
}

TEST(MonoVerifier, ValuesAreThoseOfTheVersion) {
  const auto collected = [](uint8_t version, uint64_t event, uint64_t generation) {
    return violations(
        open_buffer(version)
            .event(Group::gc, info::kGcEvent, 1, GcEvent{.event = event, .generation = generation})
            .bytes());
  };
  EXPECT_EQ(collected(17, 11, 2), std::vector<Kind>());
  EXPECT_EQ(collected(12, 11, 2), only(Kind::unknown_value));
  EXPECT_EQ(collected(17, 12, 0), only(Kind::unknown_value));
  EXPECT_EQ(collected(17, 0, 3), only(Kind::unknown_value));
  EXPECT_EQ(violations(open_buffer()
                           .event(Group::exception, info::kExceptionClause, 1, Clause{.type = 3})
                           .bytes()),
            only(Kind::unknown_value));
  EXPECT_EQ(
      violations(
          open_buffer().event(Group::monitor, 0, 1, Monitor{.action = 4, .object = 8}).bytes()),
      only(Kind::unknown_value));
}

// A buffer of the profiler's writer thread, which writes other threads' methods, may be late.
TEST(MonoVerifier, TheWriterThreadWritesBuffersLate) {
  const auto load = [](MonoBuilder& file, uint64_t step) -> MonoBuilder& {
    return file.event(Group::metadata, info::kMetadataEndLoad, step,
                      Metadata{.kind = MetadataKind::image, .name = "a"});
  };
  const auto late = [&](bool jit_before, bool jit_inside, uint64_t second_step) {
    MonoBuilder file(17);
    file.buffer(buffer_header(1, 1000));
    if (jit_before) file.jit(5, kMethods, "a");
    load(file, 20);
    file.buffer(buffer_header(1, 900));
    load(file, 10);
    if (jit_inside) file.jit(5, kMethods, "b");
    file.enter(1, kMethods);
    load(file, second_step);
    return violations(file.bytes());
  };
  EXPECT_EQ(late(true, false, 1), std::vector<Kind>());
  EXPECT_EQ(late(false, true, 1), std::vector<Kind>());
  EXPECT_EQ(late(false, false, 1), only(Kind::time_goes_back));
  // Within a buffer times must still be in order.
  EXPECT_EQ(late(true, true, ~uint64_t{0}), only(Kind::time_goes_back));
}

// `convert --to mono1` keeps the order of buffers.
TEST(MonoVerifier, TheWriterThreadOfAConvertedRecordingIsKnownByItsName) {
  const auto late = [](std::string_view name, uint64_t thread) {
    MonoBuilder file(1);
    file.buffer(buffer_header(1, 500));
    file.event(Group::metadata, info::kMetadataName, 1,
               Metadata{.action = Metadata::Action::name,
                        .kind = MetadataKind::thread,
                        .pointer = thread,
                        .has_name = true,
                        .name = name});
    file.buffer(buffer_header(1, 1000)).jit(5, kMethods, "a");
    file.buffer(buffer_header(1, 900));
    file.event(Group::metadata, info::kMetadataEndLoad, 10,
               Metadata{.kind = MetadataKind::image, .name = "a"});
    return violations(file.bytes());
  };
  EXPECT_EQ(late("Profiler Writer", 1), std::vector<Kind>());
  EXPECT_EQ(late("Profiler Writer", 2), only(Kind::time_goes_back));
  EXPECT_EQ(late("Worker", 1), only(Kind::time_goes_back));
}

// Written by hand from the published text and the changes of later versions, not from the
// verifier's table: each field with every value up to 20, in every version.
TEST(MonoVerifier, EachValueRuleHoldsOnRecords) {
  struct Field {
    std::string name;
    std::function<std::vector<uint64_t>(uint8_t version)> known;  // empty: not in this version
    std::function<void(MonoBuilder& file, uint8_t version, uint64_t value)> write;
  };
  const auto up_to = [](uint64_t last) {
    std::vector<uint64_t> values;
    for (uint64_t value = 0; value <= last; ++value) values.push_back(value);
    return values;
  };
  const auto info_of = [](uint64_t value) { return static_cast<uint8_t>(value << 4); };
  const std::vector<Field> fields = {
      {"GcEvent event", [&](uint8_t version) { return up_to(version < 13 ? 9 : 11); },
       [](MonoBuilder& file, uint8_t, uint64_t value) {
         file.event(Group::gc, info::kGcEvent, 1, GcEvent{.event = value, .generation = 0});
       }},
      {"GcEvent generation", [&](uint8_t) { return up_to(2); },
       [](MonoBuilder& file, uint8_t, uint64_t value) {
         file.event(Group::gc, info::kGcEvent, 1, GcEvent{.event = 0, .generation = value});
       }},
      {"GcHandle type", [&](uint8_t) { return up_to(3); },
       [](MonoBuilder& file, uint8_t, uint64_t value) {
         file.event(Group::gc, info::kGcHandleCreated, 1,
                    GcHandle{.type = value, .handle = 1, .object = kObjects, .backtrace = {}});
       }},
      {"Clause type", [](uint8_t) { return std::vector<uint64_t>{0, 1, 2, 4}; },
       [](MonoBuilder& file, uint8_t, uint64_t value) {
         file.event(Group::exception, info::kExceptionClause, 1, Clause{.type = value});
       }},
      {"Monitor action", [](uint8_t) { return std::vector<uint64_t>{1, 2, 3}; },
       [&](MonoBuilder& file, uint8_t version, uint64_t value) {
         file.event(Group::monitor, version < 14 ? info_of(value) : uint8_t{0}, 1,
                    Monitor{.action = static_cast<uint8_t>(value), .object = 8, .backtrace = {}});
       }},
      {"HeapRootArea source",
       [&](uint8_t version) { return version < 15 ? std::vector<uint64_t>() : up_to(16); },
       [](MonoBuilder& file, uint8_t, uint64_t value) {
         file.event(Group::heap, info::kHeapRootRegister, 1,
                    HeapRootArea{.source = static_cast<uint8_t>(value), .name = "a"});
       }},
      {"JitHelper type",
       [&](uint8_t version) {
         if (version < 8) return std::vector<uint64_t>();
         return up_to(version == 8 || version > 13 ? 9 : 10);
       },
       [](MonoBuilder& file, uint8_t, uint64_t value) {
         file.event(Group::runtime, info::kRuntimeJitHelper, 1,
                    JitHelper{.type = value, .code = 8, .size = 8, .name = "a"});
       }},
      {"SyncPoint kind",
       [&](uint8_t version) { return version < 13 ? std::vector<uint64_t>() : up_to(2); },
       [](MonoBuilder& file, uint8_t, uint64_t value) {
         file.event(Group::meta, info::kMetaSyncPoint, 1,
                    SyncPoint{.kind = static_cast<uint8_t>(value)});
       }}};
  for (const Field& field : fields) {
    for (uint8_t version = 1; version <= kLastVersion; ++version) {
      const std::vector<uint64_t> known = field.known(version);
      if (known.empty()) continue;
      for (uint64_t value = 0; value <= 20; ++value) {
        // Before version 14 the action is two bits of the first byte.
        if (version < 14 && field.name == "Monitor action" && value > 3) continue;
        MonoBuilder file = open_buffer(version);
        if (version == 15) {  // without a vtable it would be read as 14
          file.event(Group::metadata, info::kMetadataEndLoad, 1,
                     Metadata{.kind = MetadataKind::vtable, .pointer = 8, .type = 16});
        }
        field.write(file, version, value);
        const bool is_known = std::ranges::find(known, value) != known.end();
        EXPECT_EQ(violations(file.bytes()),
                  is_known ? std::vector<Kind>() : only(Kind::unknown_value))
            << field.name << " " << value << " in version " << int{version};
        // By its own rule and no other field's.
        const auto unknown = static_cast<size_t>(Kind::unknown_value);
        EXPECT_EQ(verify_recording(as_bytes(file.bytes()))->counts[unknown], is_known ? 0U : 1U)
            << field.name << " " << value << " in version " << int{version};
      }
    }
  }
}

TEST(MonoVerifier, FlagsAreZero) {
  EXPECT_EQ(violations(open_buffer(1)
                           .event(Group::metadata, info::kMetadataEndLoad, 1,
                                  Metadata{.kind = MetadataKind::image, .flags = 2, .name = "a"})
                           .bytes()),
            only(Kind::set_flags));
  MonoBuilder file(17);
  file.header().flags = 1;
  EXPECT_EQ(violations(file.bytes()), only(Kind::set_flags));
}

TEST(MonoVerifier, HeapObjectsStandInHeapShots) {
  EXPECT_EQ(violations(open_buffer()
                           .event(Group::heap, info::kHeapObject, 1, HeapObject{.object = kObjects})
                           .bytes()),
            only(Kind::misplaced_event));
  EXPECT_EQ(violations(open_buffer().event(Group::heap, info::kHeapEnd, 1, HeapShot{}).bytes()),
            only(Kind::misplaced_event));
}

TEST(MonoVerifier, DamageIsNamed) {
  const std::string whole = open_buffer().enter(5, kMethods).leave(6, kMethods).bytes();
  EXPECT_EQ(violations(whole.substr(0, whole.size() - 1)), only(Kind::torn_file));
  EXPECT_EQ(violations(whole + "abc"), only(Kind::stray_bytes));
  EXPECT_EQ(violations(open_buffer().raw_event("\xFF").bytes()), only(Kind::unreadable_event));
  // The first of two buffers has a length that is too large.
  const std::string header = MonoBuilder(17).bytes();
  const std::string other = MonoBuilder(17).buffer(buffer_header(2, 1000)).bytes();
  std::string two = whole + other.substr(header.size());
  two[header.size() + 4] = static_cast<char>(two[header.size() + 4] + 1);
  EXPECT_EQ(violations(two), only(Kind::wrong_length));
}

TEST(MonoFrames, ADamagedLengthCostsNothingOfItsNeighbours) {
  const std::string header = MonoBuilder(17).bytes();
  const std::string one = open_buffer().enter(5, kMethods).bytes();
  std::string file = one;
  for (int i = 0; i < 3; ++i) file += one.substr(header.size());
  const size_t size = one.size() - header.size();
  for (const uint32_t wrong : {0U, 2U, 40U, 60U, 0xFFFFFFFFU}) {
    std::string damaged = file;
    std::memcpy(damaged.data() + header.size() + size + 4, &wrong, sizeof wrong);
    const auto read = read_file_header(as_bytes(damaged));
    ASSERT_TRUE(read);
    const BufferFrames frames = frame_file(as_bytes(damaged), *read, "f");
    EXPECT_GT(frames.problems.count(), 0U) << wrong;
    ASSERT_GE(frames.buffers.size(), 4U) << wrong;
    EXPECT_EQ(frames.buffers.back().offset, file.size() - size) << wrong;
  }
}

}  // namespace
}  // namespace telltale::mono
