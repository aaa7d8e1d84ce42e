#include "formats/xray/side_record.h"

#include <gmock/gmock.h>

#include "support/side_builder.h"
#include "support/xray_builder.h"

namespace telltale::xray {
namespace {

using ::testing::HasSubstr;
using testing::SideBuilder;

SideBuilder sample() {
  SideBuilder side;
  side.flags = 1 | 2;
  side.counters = {1, 2, 3, 4, 5, 6, 7, 8};
  side.object({.number = 0,
               .is_program = true,
               .load_bias = 0x5000,
               .begin = 0x5000,
               .end = 0x9000,
               .functions = 10,
               .build_id = "\xde\xad\x01",
               .path = "/usr/bin/orders"});
  side.object({.number = 1, .begin = 0xa000, .end = 0xb000, .path = "/lib/old.so"});
  side.assigned(kFirstAssignedId, {0xa100, 0x6000, 0x1});
  side.unload(1).record(77, "of a later version");
  side.object({.number = 2,
               .begin = 0xa000,
               .end = 0xb000,
               .id_base = 10,
               .functions = 5,
               .path = "/lib/new.so"});
  side.assigned(kFirstAssignedId + 3, {0xa100}).thread(9, "worker");
  side.name(kFirstAssignedId + 3, 17, "_Z5orderi", "shop.cc").name(2, 0, "main", "");
  side.chosen("old*").chosen("shop::*;!*price*");
  return side;
}

Result<SideRecord> read(const std::string& file, ProblemLog& problems) {
  return read_side_record(as_bytes(file), "side", problems);
}

TEST(SideRecord, HowTheProcessEnded) {
  SideBuilder side;
  side.fault_signal = 11;
  side.fault_thread = 12;
  side.fault_time = 13;
  side.fault_address = 14;
  side.end = 2;
  side.end_status = 15;
  side.end_monotonic_ns = 16;
  side.user_ns = 17;
  side.system_ns = 18;
  ProblemLog problems;
  const std::string file = side.bytes();
  EXPECT_EQ(file.substr(kSideEndOffset, 4), std::string("\2\0\0\0", 4));
  const Result<SideRecord> record = read(file, problems);
  ASSERT_TRUE(record) << to_string(record.error());
  EXPECT_EQ(record->fault_signal, 11U);
  EXPECT_EQ(record->fault_thread, 12U);
  EXPECT_EQ(record->fault_time, 13U);
  EXPECT_EQ(record->fault_address, 14U);
  EXPECT_EQ(record->end, SideRecord::End::signal);
  EXPECT_EQ(record->end_status, 15U);
  EXPECT_EQ(record->end_monotonic_ns, 16U);
  EXPECT_EQ(record->user_ns, 17U);
  EXPECT_EQ(record->system_ns, 18U);
  side.cost_inside = 19;
  side.cost_outside = 20;
  const Result<SideRecord> with_cost = read(side.bytes(), problems);
  ASSERT_TRUE(with_cost) << to_string(with_cost.error());
  EXPECT_EQ(with_cost->system_ns, 18U);
  EXPECT_EQ(with_cost->cost_inside, 19U);
  EXPECT_EQ(with_cost->cost_outside, 20U);
  side.end = 3;  // of a later version
  const Result<SideRecord> later = read(side.bytes(), problems);
  ASSERT_TRUE(later) << to_string(later.error());
  EXPECT_EQ(later->end, SideRecord::End::unknown);
  EXPECT_EQ(problems.count(), 0U);
}

TEST(SideRecord, EveryFieldIsRead) {
  ProblemLog problems;
  const std::string file = sample().bytes();
  EXPECT_TRUE(looks_like_side_record(as_bytes(file)));
  const Result<SideRecord> record = read(file, problems);
  ASSERT_TRUE(record) << to_string(record.error());
  EXPECT_EQ(problems.count(), 0U);
  EXPECT_TRUE(record->ended);
  EXPECT_TRUE(record->ring);
  EXPECT_FALSE(record->snapshot);
  EXPECT_EQ(record->pid, 7U);
  EXPECT_EQ(record->start, 1000U);
  EXPECT_EQ(record->cycle_frequency, 2'000'000'000U);
  EXPECT_EQ(record->frequency_source, FrequencySource::measured);
  EXPECT_EQ(record->uncertainty_ppb, 12'500U);
  EXPECT_EQ(record->lost_overwritten, 1U);
  EXPECT_EQ(record->lost_in_snapshot, 5U);
  EXPECT_EQ(record->left_out, 6U);
  EXPECT_EQ(record->unnamed, 8U);
  ASSERT_EQ(record->objects.size(), 3U);
  EXPECT_EQ(record->objects[0].build_id, "dead01");
  EXPECT_EQ(record->objects[0].path, "/usr/bin/orders");
  EXPECT_TRUE(record->objects[0].is_program);
  EXPECT_EQ(record->objects[2].id_base, 10U);
  EXPECT_EQ(record->chosen, "shop::*;!*price*");  // the last record counts
  ASSERT_EQ(record->threads.size(), 1U);
  EXPECT_EQ(record->threads[0].second, "worker");
  EXPECT_EQ(record->committed, file.size());
  ASSERT_EQ(record->names.size(), 2U);
  EXPECT_EQ(record->find_name(2)->linkage_name, "main");
  EXPECT_EQ(record->find_name(2)->line, 0U);
  EXPECT_EQ(record->find_name(2)->file, "");
  EXPECT_EQ(record->find_name(kFirstAssignedId + 3)->linkage_name, "_Z5orderi");
  EXPECT_EQ(record->find_name(kFirstAssignedId + 3)->line, 17U);
  EXPECT_EQ(record->find_name(kFirstAssignedId + 3)->file, "shop.cc");
  EXPECT_EQ(record->find_name(1), nullptr);
  EXPECT_EQ(record->find_name(3), nullptr);
  EXPECT_EQ(record->find_name(kFirstAssignedId + 4), nullptr);
}

TEST(SideRecord, NamesAreWrittenAsTheyAreRead) {
  for (const char* linkage_name : {"", "f", "longer_by_8", "_Z5orderi"}) {
    EXPECT_EQ(encode_side_name({3, 17, linkage_name, "shop.cc"}),
              SideBuilder().name(3, 17, linkage_name, "shop.cc").records());
  }
}

TEST(SideRecord, IdsAndAddressesBelongToTheObjectRecordedLastBefore) {
  ProblemLog problems;
  const Result<SideRecord> record = read(sample().bytes(), problems);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->object_by_id.find(0), std::nullopt);
  EXPECT_EQ(record->object_by_id.find(1), 0U);
  EXPECT_EQ(record->object_by_id.find(10), 0U);
  EXPECT_EQ(record->object_by_id.find(11), 2U);
  EXPECT_EQ(record->object_by_id.find(16), std::nullopt);
  const auto object_of = [&](uint32_t id) { return record->find_assigned(id)->object; };
  EXPECT_EQ(object_of(kFirstAssignedId), 1U);
  EXPECT_EQ(object_of(kFirstAssignedId + 1), 0U);
  EXPECT_EQ(object_of(kFirstAssignedId + 2), kNoObject);
  EXPECT_EQ(object_of(kFirstAssignedId + 3), 2U) << "the same address, other code";
  EXPECT_EQ(record->find_assigned(kFirstAssignedId + 4), nullptr);
  EXPECT_EQ(record->find_assigned(1), nullptr);
}

TEST(SideRecord, EveryPrefixGivesWhatIsWholeInIt) {
  const std::string file = sample().bytes();
  for (size_t length = 0; length <= file.size(); ++length) {
    ProblemLog problems;
    const std::string cut = file.substr(0, length);
    const Result<SideRecord> record = read(cut, problems);
    if (length < 256) {
      ASSERT_FALSE(record) << length;
      EXPECT_TRUE(record.error().offset);
      continue;
    }
    ASSERT_TRUE(record) << length;
    EXPECT_LE(record->objects.size(), 3U);
    EXPECT_EQ(problems.damaged(), length != file.size()) << length;
  }
}

TEST(SideRecord, EveryFlippedByteIsReadOrSaid) {
  const std::string file = sample().bytes();
  for (size_t at = 0; at < file.size(); ++at) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string bad = file;
      bad[at] = static_cast<char>(bad[at] ^ flip);
      ProblemLog problems;
      const Result<SideRecord> record = read(bad, problems);
      if (!record) continue;
      for (const SideFunction& function : record->functions)
        EXPECT_TRUE(function.object == kNoObject || function.object < record->objects.size());
    }
  }
}

TEST(SideRecord, HostileNumbersCostNothing) {
  for (const uint64_t committed : {uint64_t{0}, uint64_t{255}, uint64_t{1} << 40, ~uint64_t{0}}) {
    std::string file = sample().bytes();
    file.replace(16, 8, reinterpret_cast<const char*>(&committed), 8);
    ProblemLog problems;
    ASSERT_TRUE(read(file, problems));
    EXPECT_TRUE(problems.damaged());
  }
  SideBuilder side;
  side.raw(std::string("\x03\0\0\0\x18\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0", 24));
  side.object({.id_base = 0xffff'fff0, .functions = 0x100, .path = "/x"});
  side.object({.number = 3, .path = "/kept"});
  ProblemLog problems;
  const Result<SideRecord> record = read(side.bytes(), problems);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->objects.size(), 1U);
  EXPECT_EQ(problems.damage_count(), 2U);
}

TEST(SideRecord, WhatIsNoSideRecordIsRefused) {
  ProblemLog problems;
  std::string file = sample().bytes();
  EXPECT_THAT(to_string(read("TTXRSID", problems).error()), HasSubstr("mark"));
  file[8] = 2;
  EXPECT_THAT(to_string(read(file, problems).error()), HasSubstr("version 2"));
  file[0] = 'X';
  EXPECT_THAT(to_string(read(file, problems).error()), HasSubstr("not a side record"));
}

}  // namespace
}  // namespace telltale::xray
