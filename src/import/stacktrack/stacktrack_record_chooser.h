#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>

#include "formats/stacktrack/info_assembler.h"
#include "formats/stacktrack/records.h"
#include "model/call_filter.h"

namespace telltale {

// Context records (names, processes, clocks) belong to no thread and count as the start of the
// recording.
inline bool chooses_context(const CallFilter& filter) {
  return filter.threads.empty() && filter.from_ns == 0;
}

// Selects the records of a file that belong to the selected HITs: their INFO records and, on
// request, context records. Pass it every record, in file order.
class StacktrackRecordChooser {
 public:
  // `hits`: offsets, ascending; must outlive this.
  StacktrackRecordChooser(std::span<const uint64_t> hits, bool context)
      : hits_(hits), context_(context) {}

  bool keeps(const stacktrack::Record& record) {
    if (record.is(stacktrack::RecordKind::info)) {
      const auto found = texts_.find(key_of(record));
      const bool kept = found == texts_.end() ? context_ : found->second;
      if (found != texts_.end() && record.info_end()) texts_.erase(found);
      return kept;
    }
    const bool kept = record.is(stacktrack::RecordKind::hit)
                          ? std::ranges::binary_search(hits_, record.offset())
                          : context_;
    if (record.has_info()) texts_[key_of(record)] = kept;
    return kept;
  }

 private:
  using Key = std::tuple<uint64_t, uint64_t, uint64_t>;
  static Key key_of(const stacktrack::Record& record) {
    return {record.pid(), record.stream(), record.sequence()};
  }

  std::span<const uint64_t> hits_;
  bool context_;
  std::map<Key, bool> texts_;  // records whose INFO records follow
};

}  // namespace telltale
