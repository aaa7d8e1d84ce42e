#include "formats/mono/skim_run.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bytes/leb_cursor.h"
#include "formats/mono/reader.h"

namespace telltale::mono {
namespace {

// The facts about an event: its kind, time, and type and size; or a method.
using Seen = std::tuple<EventKind, uint64_t, uint64_t, uint64_t>;

// An allocation's object, and its stack.
using Traced = std::pair<uint64_t, std::vector<uint64_t>>;

struct OneByOne {
  std::vector<Seen> seen;
  std::vector<Traced> traced;
  void event(const EventHead& head, const Alloc& r) {
    seen.emplace_back(head.kind, head.time, r.type, r.size);
    if (r.has_backtrace)
      traced.emplace_back(r.object, std::vector(r.backtrace.begin(), r.backtrace.end()));
  }
  void event(const EventHead& head, const HeapObject& r) {
    seen.emplace_back(head.kind, head.time, r.type, r.size);
  }
  void event(const EventHead& head, const Clause& r) {
    seen.emplace_back(head.kind, head.time, r.type, 0);
  }
  void event(const EventHead& head, const GcMove& r) {
    seen.emplace_back(head.kind, head.time, r.objects.size(), 0);
  }
  void event(const EventHead& head, const HeapRoots&) {
    seen.emplace_back(head.kind, head.time, 0, 0);
  }
  void event(const EventHead& head, const Call& r) {
    seen.emplace_back(head.kind, head.time, r.method, 0);
  }
  void event(const EventHead& head, const Jit& r) {
    seen.emplace_back(head.kind, head.time, r.method, r.code_size);
  }
  void event(const EventHead& head, const Throw&) { seen.emplace_back(head.kind, head.time, 0, 0); }
};
struct Skimmer : OneByOne {
  SkimRun::Wants wanted{false, false, false};
  uint64_t mask = ~uint64_t{0};
  bool portably = false;
  size_t skimmed = 0;

  [[nodiscard]] SkimRun::Wants wants() const { return wanted; }
  void skim(SkimRun& run) {
    const size_t before = seen.size();
    Use use{this};
    if (portably) {
      run.play_portably(use);
    } else {
      run.play(use);
    }
    EXPECT_EQ(seen.size() - before, use.calls);
    skimmed += use.calls;
  }

  struct Use {
    Skimmer* to;
    size_t calls = 0;
    void allocation(uint64_t time, uint64_t type, uint64_t size) {
      EXPECT_FALSE(to->wanted.stacks);
      add(EventKind::alloc, time, type, size);
    }
    uint64_t traced_allocation(uint64_t time, uint64_t type, uint64_t object, uint64_t size,
                               const EncodedStack& stack) {
      EXPECT_TRUE(to->wanted.stacks && to->wanted.encoded_stacks);
      add(EventKind::alloc, time, type, size);
      uint64_t method = stack.first;
      std::vector<uint64_t> methods = {method & to->mask};
      LebCursor in(std::as_bytes(std::span(stack.begin, stack.end)));
      while (methods.size() < stack.methods) {
        method += static_cast<uint64_t>(in.sleb("frame"));
        methods.push_back(method & to->mask);
      }
      EXPECT_TRUE(in.ok());
      EXPECT_EQ(in.left(), 0U);
      to->traced.emplace_back(object, std::move(methods));
      return method - stack.first;
    }
    void heap_object(uint64_t time, uint64_t type, uint64_t size) {
      EXPECT_FALSE(to->wanted.references);
      add(EventKind::heap_object, time, type, size);
    }
    void clause(uint64_t time, uint64_t type) {
      EXPECT_FALSE(to->wanted.stacks && to->wanted.clauses);
      add(EventKind::exception_clause, time, type, 0);
    }
    void moves(uint64_t time, uint64_t addresses) {
      EXPECT_FALSE(to->wanted.references);
      add(EventKind::gc_move, time, addresses, 0);
    }
    void roots(uint64_t time) {
      EXPECT_FALSE(to->wanted.references);
      add(EventKind::heap_roots, time, 0, 0);
    }
    void add(EventKind kind, uint64_t time, uint64_t type, uint64_t size) {
      to->seen.emplace_back(kind, time, type, size);
      ++calls;
    }
  };
};

class Events {
 public:
  explicit Events(uint32_t seed) : random_(seed) {}

  std::vector<uint8_t> make(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      // Runs of one kind, as in recordings.
      const uint64_t kind = random_() % 14;
      for (uint64_t row = random_() % 20; row != 0; --row) one(kind);
    }
    return std::move(bytes_);
  }

 private:
  // Mostly short numbers, some of every length up to ten bytes.
  uint64_t number() { return random_() >> (64 - 1 - random_() % (random_() % 16 == 0 ? 63 : 20)); }
  void byte(uint64_t value) { bytes_.push_back(static_cast<uint8_t>(value)); }
  void uleb(uint64_t value) {
    for (; value > 0x7F; value >>= 7) byte(value | 0x80);
    byte(value);
  }
  void sleb() {
    auto value = static_cast<int64_t>(random_() % 2 == 0 ? number() : ~number());
    for (; value < -0x40 || value > 0x3F; value >>= 7) byte(static_cast<uint64_t>(value) | 0x80);
    byte(static_cast<uint64_t>(value) & 0x7F);
  }
  void list(unsigned numbers_each) {
    const uint64_t count = random_() % 40 == 0 ? random_() % 300 : random_() % 8;
    uleb(count);
    for (uint64_t i = 0; i < count; ++i) {
      if (numbers_each == 2) uleb(number());
      sleb();
    }
  }
  void one(uint64_t kind) {
    switch (kind) {
      case 0:
      case 1:
      case 2:
        byte(kind == 0 ? 0x00 : 0x10);  // allocation
        uleb(number());
        sleb();
        sleb();
        uleb(number());
        if (kind != 0) list(1);
        break;
      case 3:
      case 4:
      case 5:
        byte(0x26);  // heap object
        uleb(number());
        sleb();
        sleb();
        uleb(number());
        byte(random_());
        list(2);
        break;
      case 6:
      case 7:
        byte(0x14);  // clause
        uleb(number());
        byte(random_() % 8 == 0 ? random_() : 2);
        uleb(number());
        sleb();
        sleb();
        break;
      case 8:
        byte(0x84);  // exception, with a stack
        uleb(number());
        sleb();
        list(1);
        break;
      case 9:
        byte(0x43);  // compiled
        uleb(number());
        sleb();
        sleb();
        uleb(number());
        byte(0);
        break;
      case 10:
      case 11:
        byte(kind == 10 ? 0x31 : 0x36);  // moves; roots
        uleb(number());
        list(kind == 10 ? 1 : 2);
        break;
      default:
        byte(kind == 12 ? 0x23 : 0x13);  // call
        uleb(number());
        sleb();
    }
  }

  std::mt19937_64 random_;
  std::vector<uint8_t> bytes_;
};

template <typename Visitor>
DecodeEnd decode(std::span<const uint8_t> bytes, Visitor& visitor, uint8_t version = 17,
                 uint64_t mask = ~uint64_t{0}) {
  // A separate copy, so that sanitizers detect reads beyond the end.
  const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  static const Layout kLayouts[] = {layout_of(15), layout_of(16), layout_of(17)};
  return decode_buffer(
      std::as_bytes(std::span(copy)),
      {.time = 5, .method = 0x1000, .pointer = 0x20000, .object = 0x300, .address_mask = mask}, 0,
      kLayouts[version - 15], visitor);
}

void expect_the_same(std::span<const uint8_t> bytes, Skimmer skimmer, uint8_t version = 17,
                     uint64_t mask = ~uint64_t{0}) {
  OneByOne right;
  const DecodeEnd right_end = decode(bytes, right, version, mask);
  skimmer.mask = mask;
  for (const bool portably : {false, true}) {
    skimmer.portably = portably;
    skimmer.seen.clear();
    skimmer.traced.clear();
    const DecodeEnd end = decode(bytes, skimmer, version, mask);
    ASSERT_EQ(skimmer.seen, right.seen);
    if (skimmer.wanted.stacks) {
      ASSERT_EQ(skimmer.traced, right.traced);
    }
    ASSERT_EQ(end.offset, right_end.offset);
    ASSERT_EQ(end.last_time, right_end.last_time);
    ASSERT_EQ(end.error.has_value(), right_end.error.has_value());
    if (end.error) {
      ASSERT_EQ(end.error->detail, right_end.error->detail);
    }
  }
}

TEST(SkimRun, TellsWhatReadingEventByEventTells) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const std::vector<uint8_t> bytes = Events(seed).make(200);
    for (const SkimRun::Wants wants :
         {SkimRun::Wants{false, false, false, false}, SkimRun::Wants{true, false, true, false},
          SkimRun::Wants{false, true, true, false}, SkimRun::Wants{true, true, false, false},
          SkimRun::Wants{true, false, false, true}, SkimRun::Wants{true, true, true, true}}) {
      Skimmer skimmer;
      skimmer.wanted = wants;
      expect_the_same(bytes, skimmer);
      expect_the_same(bytes, skimmer, 17, 0xFFFF'FFFF);
    }
    expect_the_same(bytes, {}, 15);
  }
}

TEST(SkimRun, EveryPrefixTellsTheWholeEventsBeforeTheCut) {
  const std::vector<uint8_t> bytes = Events(21).make(12);
  Skimmer traced;
  traced.wanted = {true, true, true};
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    expect_the_same(std::span(bytes).first(cut), {});
    expect_the_same(std::span(bytes).first(cut), traced);
  }
}

TEST(SkimRun, AChangedByteTellsTheSame) {
  std::mt19937_64 random(22);
  for (int i = 0; i < 2000; ++i) {
    std::vector<uint8_t> bytes = Events(23).make(10);
    bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    bytes[random() % bytes.size()] |= 0x80;
    expect_the_same(bytes, {});
    Skimmer traced;
    traced.wanted = {true, true, true};
    expect_the_same(bytes, traced);
  }
}

TEST(SkimRun, ANumberOfMoreThanTenBytesFails) {
  struct Written {
    std::vector<uint8_t> bytes;
    std::vector<std::ptrdiff_t> numbers;  // the places that are not single bytes
  };
  for (const Written& event :
       {Written{{0x26, 1, 1, 1, 1, 1, 3, 8, 1, 8, 1, 8, 1}, {1, 2, 3, 4, 6, 7, 12}},
        Written{{0x10, 1, 1, 1, 1, 3, 1, 1, 1}, {1, 2, 3, 4, 5, 6, 8}},
        Written{{0x14, 1, 2, 1, 1, 1}, {1, 3, 4, 5}}, Written{{0x31, 1, 2, 1, 1}, {1, 2, 3, 4}},
        Written{{0x36, 1, 2, 1, 1, 1, 1}, {1, 2, 3, 6}}}) {
    for (const std::ptrdiff_t place : event.numbers) {
      for (const size_t more : {6U, 7U, 8U, 9U, 10U, 11U}) {
        std::vector<uint8_t> bytes = event.bytes;
        bytes.insert(bytes.begin() + place, more, 0x80);
        bytes.resize(bytes.size() + 100, 0x01);
        expect_the_same(bytes, {});
        Skimmer traced;
        traced.wanted = {true, true, true};
        expect_the_same(bytes, traced);
      }
    }
  }
}

TEST(SkimRun, MostEventsAreSkimmed) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 100; ++i) {
    bytes.insert(bytes.end(), {0x26, 0x02, 0xC0, 0x01, 0xB0, 0x02, 0x20, 0x01, 0x02, 0x10, 0x85,
                               0x01, 0x08, 0x05});
  }
  Skimmer skimmer;
  decode(bytes, skimmer);
  EXPECT_EQ(skimmer.seen.size(), 100U);
  EXPECT_GT(skimmer.skimmed, 90U);
}

TEST(SkimRun, MostAllocationsWithStacksAreSkimmed) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 100; ++i) {
    bytes.insert(bytes.end(),
                 {0x10, 0x02, 0xC0, 0x01, 0xB0, 0x02, 0x20, 0x03, 0x85, 0x01, 0x08, 0x05});
  }
  Skimmer skimmer;
  skimmer.wanted = {.encoded_stacks = true};
  decode(bytes, skimmer);
  EXPECT_EQ(skimmer.seen.size(), 100U);
  EXPECT_GT(skimmer.skimmed, 90U);
}

// The stack that follows is a step from their methods.
TEST(SkimRun, MostClausesAreSkimmedBetweenStacks) {
  std::vector<uint8_t> bytes;
  const std::vector<uint8_t> clause = {0x14, 0x02, 0x02, 0x00, 0xB0, 0x02, 0x05};
  const std::vector<uint8_t> allocation = {0x10, 0x02, 0xC0, 0x01, 0xB0, 0x02,
                                           0x20, 0x03, 0x85, 0x01, 0x08, 0x05};
  for (int i = 0; i < 100; ++i) bytes.insert(bytes.end(), clause.begin(), clause.end());
  bytes.insert(bytes.end(), allocation.begin(), allocation.end());
  Skimmer skimmer;
  skimmer.wanted = {.clauses = false};
  decode(bytes, skimmer);
  EXPECT_EQ(skimmer.seen.size(), 101U);
  EXPECT_GT(skimmer.skimmed, 85U);
  expect_the_same(bytes, skimmer);
}

}  // namespace
}  // namespace telltale::mono
