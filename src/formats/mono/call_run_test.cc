#include "formats/mono/call_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace telltale::mono {
namespace {

using Event = std::tuple<Call::Action, uint64_t, uint64_t>;  // time, method

constexpr uint8_t kJitByte = 0x43;

void put_uleb(std::vector<uint8_t>& out, uint64_t value) {
  for (; value > 0x7F; value >>= 7) out.push_back(static_cast<uint8_t>(value | 0x80));
  out.push_back(static_cast<uint8_t>(value));
}
void put_sleb(std::vector<uint8_t>& out, int64_t value) {
  for (; value < -0x40 || value > 0x3F; value >>= 7)
    out.push_back(static_cast<uint8_t>(value | 0x80));
  out.push_back(static_cast<uint8_t>(value & 0x7F));
}

struct Calls {
  std::vector<uint8_t> bytes;
  std::vector<Event> events;
  std::vector<size_t> ends;  // where events[i] ends
  uint64_t time = 1'000'000;
  uint64_t method = 0x5555'0000'1000;

  void add(Call::Action action, uint64_t time_step, int64_t method_step) {
    bytes.push_back(static_cast<uint8_t>(static_cast<unsigned>(action) << 4 |
                                         static_cast<unsigned>(Group::method)));
    put_uleb(bytes, time_step);
    put_sleb(bytes, method_step);
    time += time_step;
    method += static_cast<uint64_t>(method_step);
    events.emplace_back(action, time, method);
    ends.push_back(bytes.size());
  }
};

// The events before the first that is not a call; their number of bytes; whether decoding failed.
std::tuple<std::vector<Event>, size_t, bool> read(std::span<const uint8_t> bytes,
                                                  uint64_t mask = ~uint64_t{0}) {
  // A separate copy, so that sanitizers detect reads beyond the end.
  const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  LebCursor in(std::as_bytes(std::span(copy)));
  BufferBases bases{.time = Calls().time, .method = Calls().method, .address_mask = mask};
  std::vector<Event> events;
  CallRun run(in, bases);
  run.for_each([&](Call::Action action, uint64_t time, uint64_t method) {
    events.emplace_back(action, time, method);
  });
  return {events, in.position(), !in.ok()};
}

// Numbers of all lengths, mostly short ones, and exits of the method that was entered.
Calls random_calls(uint32_t seed, size_t n) {
  std::mt19937_64 random(seed);
  const auto number = [&](unsigned most_bits) {
    return random() >> (64 - 1 - random() % most_bits);
  };
  Calls calls;
  for (size_t i = 0; i < n; ++i) {
    const bool odd = random() % 8 == 0;
    const auto action = static_cast<Call::Action>(1 + random() % 3);
    const auto step = static_cast<int64_t>(number(odd ? 62 : 14));
    calls.add(action, odd ? number(63) : 128 + number(14) % 16000,
              random() % 2 == 0 ? step : -step);
    if (random() % 2 == 0) calls.add(Call::Action::leave, 128 + number(13), 0);
  }
  return calls;
}

TEST(CallRun, ReadsEveryLengthOfNumbers) {
  for (const uint32_t seed : {1U, 2U, 3U}) {
    const Calls calls = random_calls(seed, 3000);
    const auto [events, position, failed] = read(calls.bytes);
    EXPECT_EQ(events, calls.events);
    EXPECT_EQ(position, calls.bytes.size());
    EXPECT_FALSE(failed);
  }
}

TEST(CallRun, EveryPrefixGivesTheWholeEventsBeforeTheCut) {
  const Calls calls = random_calls(4, 100);
  for (size_t cut = 0; cut <= calls.bytes.size(); ++cut) {
    const auto [events, position, failed] = read(std::span(calls.bytes).first(cut));
    const auto whole =
        static_cast<size_t>(std::ranges::upper_bound(calls.ends, cut) - calls.ends.begin());
    ASSERT_EQ(events, std::vector(calls.events.begin(),
                                  calls.events.begin() + static_cast<std::ptrdiff_t>(whole)))
        << cut;
    ASSERT_EQ(position, whole == 0 ? 0 : calls.ends[whole - 1]) << cut;
    ASSERT_EQ(failed, position != cut) << cut;
  }
}

TEST(CallRun, StopsAtWhatIsNoCall) {
  for (const uint8_t other : {uint8_t{0x03}, kJitByte, uint8_t{0x10}, uint8_t{0x93}}) {
    Calls calls = random_calls(5, 40);
    const size_t end = calls.bytes.size();
    calls.bytes.push_back(other);
    calls.bytes.insert(calls.bytes.end(), {0x80, 0x01, 0x05, 0x13, 0x80, 0x01, 0x00});
    calls.bytes.resize(end + 40, 0x01);
    const auto [events, position, failed] = read(calls.bytes);
    EXPECT_EQ(events, calls.events) << int{other};
    EXPECT_EQ(position, end) << int{other};
    EXPECT_FALSE(failed);
  }
}

TEST(CallRun, ANumberOfMoreThanTenBytesFails) {
  Calls calls = random_calls(6, 10);
  const size_t end = calls.bytes.size();
  calls.bytes.push_back(kEnterByte);
  calls.bytes.insert(calls.bytes.end(), 11, 0x80);
  calls.bytes.insert(calls.bytes.end(), 40, 0x01);
  const auto [events, position, failed] = read(calls.bytes);
  EXPECT_EQ(events, calls.events);
  EXPECT_EQ(position, end);
  EXPECT_TRUE(failed);
}

TEST(CallRun, AddressesHaveTheWidthOfAPointer) {
  Calls calls;
  calls.add(Call::Action::enter, 200, -0x5555'0000'1001);
  calls.bytes.resize(64, 0x01);
  EXPECT_EQ(std::get<0>(read(calls.bytes, 0xFFFF'FFFF)),
            (std::vector<Event>{{Call::Action::enter, 1'000'200, 0xFFFF'FFFF}}));
}

TEST(CallRun, TellsALeafAtOnce) {
  Calls calls;
  calls.add(Call::Action::enter, 200, 300);
  calls.add(Call::Action::leave, 150, 0);
  calls.add(Call::Action::leave, 151, 0);  // of the caller: the same method again
  calls.bytes.resize(64, 0x01);
  LebCursor in(std::as_bytes(std::span(calls.bytes)));
  BufferBases bases{.time = Calls().time, .method = Calls().method};
  CallRun run(in, bases);
  struct Log {
    std::vector<std::string> seen;
    void enter(uint64_t, uint64_t) { seen.emplace_back("enter"); }
    void leave(uint64_t time, uint64_t) { seen.push_back("leave " + std::to_string(time)); }
    void exception_leave(uint64_t, uint64_t) { seen.emplace_back("exception"); }
    void leaf(uint64_t entered, uint64_t left, uint64_t) {
      seen.push_back("leaf " + std::to_string(entered) + " " + std::to_string(left));
    }
  } log;
  run.play(log);
  EXPECT_EQ(log.seen, (std::vector<std::string>{"leaf 1000200 1000350", "leave 1000501"}));
}

TEST(CallRun, TimesThatMayOverflowAreToldOneByOne) {
  Calls calls;
  for (int i = 0; i < 10; ++i) calls.add(Call::Action::enter, 200, 300);
  LebCursor in(std::as_bytes(std::span(calls.bytes)));
  BufferBases bases{.time = ~uint64_t{0} - 500, .method = 0};
  CallRun run(in, bases);
  std::vector<uint64_t> times;
  run.for_each([&](Call::Action, uint64_t time, uint64_t) { times.push_back(time); });
  ASSERT_EQ(times.size(), 10U);
  EXPECT_EQ(times[1], ~uint64_t{0} - 100);
  EXPECT_EQ(times[2], 99U);  // the caller holds it
}

}  // namespace
}  // namespace telltale::mono
