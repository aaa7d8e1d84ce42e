#include "import/xray/ordered_selector.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "formats/xray/fdr_file_walk.h"

namespace telltale {

struct OrderedSelector::Collector {
  OrderedSelector& all;
  xray::RecordSelector& selector;

  void begin_buffer(const xray::BufferFrame& frame) {
    selector.begin_buffer(frame.pid, frame.tid, frame.first_tsc);
  }
  void function(uint64_t, const xray::FunctionRecord& record) { add(selector.function(record)); }
  void metadata(const xray::FdrRecord& record) { add(selector.metadata(record)); }
  void skipped(const xray::SkippedBytes&) {}
  void end_buffer(const xray::BufferFrame&) {}
  void problem(const Problem&) {}

 private:
  void add(bool selected) {
    all.selected_.push_back(selected);
    all.here_after_.push_back(selector.here());
  }
};

OrderedSelector::OrderedSelector(Bytes file, const xray::FileHeader& header,
                                 const xray::FdrFrames& frames, xray::RecordSelector& selector) {
  std::vector<size_t> order(frames.buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Stable: buffers that begin at the same time stay in file order.
  std::ranges::stable_sort(order, {}, [&](size_t i) { return frames.buffers[i].first_tsc; });
  buffers_.resize(order.size());
  Collector collector{*this, selector};
  for (const size_t i : order) {
    const xray::BufferFrame& frame = frames.buffers[i];
    Buffer& buffer = buffers_[i];
    selector.begin_buffer(frame.pid, frame.tid, frame.first_tsc);
    buffer.here = selector.here();
    buffer.first = selected_.size();
    xray::detail::walk_frame(file, header, frame, {}, collector);
    buffer.end = selected_.size();
  }
}

void OrderedSelector::begin_buffer(int64_t, int64_t, uint64_t) {
  if (next_buffer_ == buffers_.size()) return;
  const Buffer& buffer = buffers_[next_buffer_++];
  here_ = buffer.here;
  at_ = buffer.first;
  end_ = buffer.end;
}

bool OrderedSelector::next() {
  if (at_ == end_) return false;
  here_ = here_after_[at_];
  return selected_[at_++];
}

bool has_unordered_buffers(const xray::FdrFrames& frames) {
  std::map<std::pair<int64_t, int64_t>, uint64_t> latest;  // by thread
  return std::ranges::any_of(frames.buffers, [&](const xray::BufferFrame& frame) {
    uint64_t& before = latest[{frame.pid, frame.tid}];
    return std::exchange(before, std::max(before, frame.first_tsc)) > frame.first_tsc;
  });
}

}  // namespace telltale
