#include "import/xray/ordered_selector.h"

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/xray/fdr_file_walk.h"
#include "import/xray/xray_record_selector.h"
#include "model/record_filter.h"
#include "support/xray_builder.h"

namespace telltale {
namespace {

using testing::FdrBuilder;

struct NoNames : FunctionNames {
  [[nodiscard]] const FunctionInfo& describe(FunctionId) const override { return info; }
  FunctionInfo info;
};

// The functions of the selected entries, in file order.
struct Entries {
  xray::RecordSelector& selector;
  std::vector<uint32_t> functions = {};

  void begin_buffer(const xray::BufferFrame& frame) {
    selector.begin_buffer(frame.pid, frame.tid, frame.first_tsc);
  }
  void function(uint64_t, const xray::FunctionRecord& record) {
    if (selector.function(record) && record.action == xray::FunctionAction::enter)
      functions.push_back(record.function_id);
  }
  void metadata(const xray::FdrRecord& record) { (void)selector.metadata(record); }
  void skipped(const xray::SkippedBytes&) {}
  void end_buffer(const xray::BufferFrame&) {}
  void problem(const Problem&) {}
};

// A thread's second buffer, in which a call of the first goes on, comes first in the file.
std::string ring() {
  FdrBuilder builder(5);
  builder.buffer_size(4096);
  builder.buffer({.tid = 7, .pid = 9, .tsc = 500}).enter(3, 1).exit(3, 1).exit(1, 1).enter(4, 1);
  builder.buffer({.tid = 8, .pid = 9, .tsc = 300}).enter(5, 1).enter(6, 1);
  builder.buffer({.tid = 7, .pid = 9, .tsc = 100}).enter(1, 1).enter(2, 1).exit(2, 1);
  return builder.bytes();
}

TEST(OrderedSelector, DepthsAreThoseInTheOrderOfTime) {
  const std::string file = ring();
  const Bytes bytes = std::as_bytes(std::span(file));
  const auto header = xray::read_file_header(bytes);
  ASSERT_TRUE(header);
  const xray::FdrFrames frames = xray::frame_fdr_file(bytes, *header, "ring");
  ASSERT_EQ(frames.buffers.size(), 3U);
  EXPECT_TRUE(has_unordered_buffers(frames));
  CallFilter filter;
  filter.max_depth = 1;
  const NoNames names;
  RecordFilter by_depth(filter, {}, 0, names);
  XrayRecordSelector selector(by_depth, std::nullopt);
  OrderedSelector ordered(bytes, *header, frames, selector);
  Entries entries{ordered};
  xray::walk_fdr_file(bytes, *header, frames, "ring", entries);
  EXPECT_EQ(entries.functions, (std::vector<uint32_t>{4, 5, 1}));
}

TEST(OrderedSelector, ThreadsNeedNoOrderBetweenThem) {
  FdrBuilder builder(5);
  builder.buffer_size(4096);
  builder.buffer({.tid = 7, .pid = 9, .tsc = 500}).enter(1, 1);
  builder.buffer({.tid = 8, .pid = 9, .tsc = 300}).enter(1, 1);
  builder.buffer({.tid = 7, .pid = 9, .tsc = 501}).exit(1, 1);
  const std::string file = builder.bytes();
  const Bytes bytes = std::as_bytes(std::span(file));
  const auto header = xray::read_file_header(bytes);
  ASSERT_TRUE(header);
  EXPECT_FALSE(has_unordered_buffers(xray::frame_fdr_file(bytes, *header, "file")));
}

}  // namespace
}  // namespace telltale
