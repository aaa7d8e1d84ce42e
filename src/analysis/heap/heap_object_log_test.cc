#include "analysis/heap/heap_object_log.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "analysis/runtime/address_map.h"

namespace telltale {
namespace {

struct Told {
  uint64_t object = 0;
  uint64_t type = 0;
  uint64_t bytes = 0;
  std::vector<std::pair<uint64_t, uint64_t>> references;  // offset, object
  bool operator==(const Told&) const = default;
};

std::vector<Told> random_objects(uint32_t seed, size_t count) {
  std::mt19937_64 random(seed);
  const auto address = [&] {
    return random() % 4 == 0 ? random() : 0x7f00'0000'0000 + random() % (1 << 24) * 8;
  };
  std::vector<Told> all;
  for (size_t i = 0; i < count; ++i) {
    Told one{address(), address(), random() % 8 == 0 ? 0 : random() >> random() % 64, {}};
    for (uint64_t left = random() % 5; left != 0; --left)
      one.references.emplace_back(random() % 1000, address());
    all.push_back(std::move(one));
  }
  return all;
}

void add(HeapObjectLog& log, const Told& one) {
  std::vector<HeapObjectEvent::Reference> references;
  for (const auto& [offset, object] : one.references)
    references.push_back({offset, ObjectId{object}});
  log.add({0, ObjectId{one.object}, TypeId{one.type}, one.bytes, 0, references});
}

std::vector<Told> told_by(const HeapObjectLog& log) {
  std::vector<Told> all;
  log.for_each([&](uint64_t object, uint64_t type,
                   uint64_t bytes) { all.push_back({object, type, bytes, {}}); },
               [&](uint64_t offset, uint64_t object) {
                 all.back().references.emplace_back(offset, object);
               });
  return all;
}

TEST(HeapObjectLog, TellsAgainWhatItWasTold) {
  const std::vector<Told> objects = random_objects(1, 30'000);  // several chunks
  HeapObjectLog log;
  size_t references = 0;
  for (const Told& one : objects) {
    add(log, one);
    references += one.references.size();
  }
  EXPECT_EQ(told_by(log), objects);
  EXPECT_EQ(told_by(log), objects);
  EXPECT_EQ(log.objects(), objects.size());
  EXPECT_EQ(log.references(), references);
}

TEST(HeapObjectLog, GoesOnBehindWhatWasAppended) {
  const std::vector<Told> objects = random_objects(2, 1000);
  for (const size_t cut : {0U, 1U, 500U, 900U}) {
    HeapObjectLog log;
    HeapObjectLog later;
    for (size_t i = 0; i < 900; ++i) add(i < cut ? log : later, objects[i]);
    log.append(std::move(later));
    for (size_t i = 900; i < objects.size(); ++i) add(log, objects[i]);
    EXPECT_EQ(told_by(log), objects) << cut;
    EXPECT_EQ(log.objects(), objects.size());
  }
}

TEST(ObjectNumbers, KeepANumberForEachAddress) {
  std::mt19937_64 random(3);
  std::map<uint64_t, uint32_t> expected;
  ObjectNumbers numbers(5000);
  for (uint32_t i = 0; i < 5000; ++i) {
    const uint64_t address = i % 3 == 0 ? random() : i % 700 * 8;
    numbers[address] = i + 1;
    expected[address] = i + 1;
  }
  for (const auto& [address, number] : expected) EXPECT_EQ(numbers.of(address), number);
  EXPECT_EQ(numbers.of(12345), 0U);
  EXPECT_EQ(ObjectNumbers(0).of(8), 0U);
}

TEST(DelayedLookups, AllInTheirOrder) {
  ObjectNumbers numbers(100);
  numbers[8] = 3;
  for (const uint32_t asked : {0U, 1U, 15U, 16U, 17U, 100U}) {
    std::vector<std::pair<uint32_t, uint64_t>> seen;
    DelayedLookups lookups(
        numbers, [&](uint32_t value, uint64_t address) { seen.emplace_back(value, address); });
    std::vector<std::pair<uint32_t, uint64_t>> expected;
    for (uint32_t i = 0; i < asked; ++i) {
      lookups.add(8 * i, i);
      expected.emplace_back(i, 8 * i);
    }
    lookups.finish();
    EXPECT_EQ(seen, expected);
  }
}

TEST(RecentSums, AddUpToWhatAMapAddsUpTo) {
  std::mt19937_64 random(4);
  AddressMap<uint64_t> right;
  AddressMap<uint64_t> map;
  RecentSums<uint64_t> recent;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t key = random() % 8 == 0 ? random() % 5000 : random() % 16 * 8;
    right[key] += key + 1;
    recent.of(key, map) += key + 1;
    if (i % 7000 == 0) recent.flush_to(map);
  }
  recent.flush_to(map);
  EXPECT_EQ(map.size(), right.size());
  for (const auto& [key, sum] : right) {
    ASSERT_NE(map.find(key), nullptr) << key;
    EXPECT_EQ(*map.find(key), sum) << key;
  }
}

}  // namespace
}  // namespace telltale
