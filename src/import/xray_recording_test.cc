#include "import/xray_recording.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "import/id_names.h"
#include "support/xray_trace_maker.h"

namespace telltale {
namespace {

// Adds up what it is told, in order.
struct Digest : IgnoreEvents {
  uint64_t value = 14695981039346656037U;
  uint64_t events = 0;
  void add(uint64_t what) { value = (value ^ what) * 1099511628211U; }
  void enter(Ticks time, FunctionId function) {
    add(time);
    add(to_number(function));
    ++events;
  }
  void leave(Ticks time, FunctionId function, LeaveKind) {
    add(~time);
    add(to_number(function));
    ++events;
  }
};

Digest play_all(const XrayRecording& recording) {
  Digest digest;
  ProblemLog problems;
  for (size_t stream = 0; stream < recording.streams().size(); ++stream) {
    for (size_t unit = 0; unit < recording.streams()[stream].units; ++unit) {
      recording.play(stream, unit, digest, problems);
    }
  }
  EXPECT_EQ(problems.count(), 0U);
  return digest;
}

XrayRecording open(const std::string& bytes) {
  std::vector<InputFile> inputs;
  inputs.push_back(InputFile::from_memory("trace", std::as_bytes(std::span(bytes))));
  Result<XrayRecording> recording =
      XrayRecording::open(std::move(inputs), std::make_shared<IdNames>());
  EXPECT_TRUE(recording) << to_string(recording.error());
  return std::move(*recording);
}

TEST(XrayRecording, CutsHugeBuffersWithoutChangingWhatTheySay) {
  bench::TraceShape shape;
  shape.records = 6'000'000;  // 48 MB
  const std::string small_buffers = bench::XrayTraceMaker(shape).make();
  // The same records in one buffer: the preambles of all buffers but the first are left out.
  std::string one_buffer = small_buffers.substr(0, 32 + 5 * 16);
  constexpr size_t kRecords = 375'000;
  for (size_t buffer = 0; buffer < 16; ++buffer) {
    const size_t start = 32 + buffer * (5 * 16 + kRecords * 8) + 5 * 16;
    one_buffer.append(small_buffers, start, kRecords * 8);
  }
  const uint64_t extents = one_buffer.size() - 32 - 16;
  std::memcpy(one_buffer.data() + 33, &extents, 8);

  const XrayRecording in_one = open(one_buffer);
  const XrayRecording in_sixteen = open(small_buffers);
  ASSERT_EQ(in_one.streams().size(), 1U);
  EXPECT_GT(in_one.streams()[0].units, 8U);
  EXPECT_LT(in_one.unit_bytes(0, 0), uint64_t{5} << 20);
  const Digest one = play_all(in_one);
  const Digest sixteen = play_all(in_sixteen);
  EXPECT_EQ(one.events, shape.records);
  EXPECT_EQ(one.value, sixteen.value);
  EXPECT_EQ(in_one.info(2).records, shape.records + 5);
}

}  // namespace
}  // namespace telltale
