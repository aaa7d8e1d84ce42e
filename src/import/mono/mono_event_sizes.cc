#include <algorithm>

#include "base/parallel.h"
#include "base/sort_rows.h"
#include "formats/mono/event_variant.h"
#include "import/mono/mono_recording.h"

namespace telltale {
namespace {

// Sums the bytes of events by their first byte. Has no member calls(), so it receives entries and
// exits one by one.
struct SizeCounter {
  std::array<EventSizes::Row, 256> rows{};

  template <typename Record>
  void event(const mono::EventHead& head, const Record&) {
    const uint64_t bytes = head.raw.size();
    EventSizes::Row& row = rows[head.first_byte];
    row.least = row.count == 0 ? bytes : std::min(row.least, bytes);
    row.most = std::max(row.most, bytes);
    row.bytes += bytes;
    ++row.count;
  }
};

}  // namespace

EventSizes MonoRecording::event_sizes(size_t workers, ProblemLog& problems) const {
  EventSizes sizes;
  std::vector<SizeCounter> counters(worker_count(workers));
  std::vector<ProblemLog> logs(counters.size());
  for (const auto& file : files_) {
    const auto& buffers = file->frames.buffers;
    sizes.buffers += buffers.size();
    sizes.header_bytes += buffers.size() * mono::kBufferHeaderBytes;
    parallel_for(buffers.size(), counters.size(), [&](size_t item, size_t worker) {
      const mono::DecodeEnd end = file->decode(buffers[item], counters[worker]);
      if (end.error) logs[worker].add(mono::decode_problem(end, buffers[item], file->input.name()));
    });
  }
  for (const ProblemLog& log : logs) problems.merge(log);
  for (unsigned byte = 0; byte < 256; ++byte) {
    EventSizes::Row total;
    for (const SizeCounter& counter : counters) {
      const EventSizes::Row& row = counter.rows[byte];
      if (row.count == 0) continue;
      total.least = total.count == 0 ? row.least : std::min(total.least, row.least);
      total.most = std::max(total.most, row.most);
      total.bytes += row.bytes;
      total.count += row.count;
    }
    if (total.count == 0) continue;
    total.first_byte = static_cast<uint8_t>(byte);
    // The first file with this event names it; versions do not contradict each other.
    for (const auto& file : files_) {
      const uint8_t kind = file->layout.events.kind[byte];
      if (kind == mono::EventTable::kNone) continue;
      total.event = mono::event_name(static_cast<mono::EventKind>(kind));
      total.variant = mono::event_variant(total.first_byte, file->layout);
      break;
    }
    sizes.rows.push_back(std::move(total));
  }
  sort_rows(sizes.rows, {}, [](const EventSizes::Row& row) {
    return std::pair(row.first_byte & 0x0F, row.first_byte >> 4);
  });
  return sizes;
}

}  // namespace telltale
