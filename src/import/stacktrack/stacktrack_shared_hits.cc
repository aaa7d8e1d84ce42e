// HITs that several files of a process contain, because several sinks were open at the same time.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "import/stacktrack/stacktrack_indexer.h"

namespace telltale {

using stacktrack::Record;
using stacktrack::RecordKind;
using stacktrack::Role;

namespace {

struct Range {
  uint64_t low = std::numeric_limits<uint64_t>::max();
  uint64_t high = 0;
};

// Of sequence numbers.
template <typename Runs>
Range range_of(const Runs& runs) {
  Range range;
  for (const auto& run : runs) {
    range.low = std::min(range.low, run.low_sequence);
    range.high = std::max(range.high, run.high_sequence);
  }
  return range;
}

}  // namespace

std::vector<StacktrackRecording::Indexer::Hit> StacktrackRecording::Indexer::hits_from(
    std::span<const Run> runs, int64_t pid, int64_t tid, uint64_t low, uint64_t high) const {
  constexpr size_t kMost = 16;
  std::vector<Hit> hits;  // a heap: the one with the largest sequence number first
  const auto by_sequence = [](const Hit& one, const Hit& other) {
    return one.sequence < other.sequence;
  };
  for (const Run& run : runs) {
    if (run.high_sequence < low || run.low_sequence > high) continue;
    const uint64_t entry = recording_.files_[run.file].format.description.entry_size;
    for (uint64_t at = run.begin; at < run.end; at += entry) {
      const Record record = recording_.record_at(run.file, at);
      if (!record.is(RecordKind::hit)) continue;
      const uint64_t sequence = record.sequence();
      if (sequence < low || sequence > high || record.pid() != static_cast<uint64_t>(pid) ||
          record.number(RecordKind::hit, Role::thread_id) != static_cast<uint64_t>(tid))
        continue;
      if (hits.size() == kMost && sequence >= hits.front().sequence) continue;
      if (hits.size() == kMost) {
        std::ranges::pop_heap(hits, by_sequence);
        hits.pop_back();
      }
      hits.push_back({.sequence = sequence,
                      .time = stacktrack::to_double(record.time(RecordKind::hit, Role::when),
                                                    record.description()),
                      .scope = record.number(RecordKind::hit, Role::scope_index),
                      .is_exit = record.is_exit()});
      std::ranges::push_heap(hits, by_sequence);
    }
  }
  std::ranges::sort_heap(hits, by_sequence);
  return hits;
}

// A single HIT does not say it: recorders whose sequence numbers are times give two processes the
// same one by chance.
bool StacktrackRecording::Indexer::share_hits(std::span<const Run> a, std::span<const Run> b,
                                              int64_t pid, int64_t tid) const {
  const Range range_a = range_of(a);
  const Range range_b = range_of(b);
  const uint64_t low = std::max(range_a.low, range_b.low);
  const uint64_t high = std::min(range_a.high, range_b.high);
  if (low > high) return false;
  const std::vector<Hit> of_a = hits_from(a, pid, tid, low, high);
  const std::vector<Hit> of_b = hits_from(b, pid, tid, low, high);
  const auto common = std::ranges::count_if(
      of_a, [&](const Hit& hit) { return std::ranges::find(of_b, hit) != of_b.end(); });
  // One of the files may lack some.
  const size_t most = std::max(of_a.size(), of_b.size());
  return common != 0 && 4 * static_cast<size_t>(common) >= 3 * most;
}

bool StacktrackRecording::Indexer::share_hits(const Part& a, const Part& b, int64_t pid) const {
  return std::ranges::any_of(a.threads, [&](const auto& one) {
    const auto other = b.threads.find(one.first);
    return other != b.threads.end() &&
           share_hits(one.second.runs, other->second.runs, pid, one.first);
  });
}

void StacktrackRecording::Indexer::drop_repeated(std::vector<Run>& runs,
                                                 const ThreadKey& key) const {
  std::map<uint32_t, std::vector<Run>> of_files;
  for (const Run& run : runs) of_files[run.file].push_back(run);
  if (of_files.size() < 2) return;
  std::vector<std::pair<Range, uint32_t>> files;
  for (const auto& [file, theirs] : of_files) files.emplace_back(range_of(theirs), file);
  std::ranges::sort(files, {}, [](const auto& one) {
    return std::tuple(one.first.low, ~one.first.high, one.second);
  });
  std::map<uint32_t, uint64_t> repeated_to;  // by file
  for (size_t later = 1; later < files.size(); ++later) {
    const auto& [range, file] = files[later];
    for (size_t earlier = 0; earlier < later; ++earlier) {
      const auto& [before, other] = files[earlier];
      uint64_t& to = repeated_to[file];
      if (before.high < range.low || before.high <= to) continue;
      if (share_hits(of_files[other], of_files[file], key.pid, key.tid)) to = before.high;
    }
  }
  std::erase_if(runs, [&](Run& run) {
    run.repeated_to = repeated_to[run.file];
    return run.high_sequence <= run.repeated_to;
  });
}

}  // namespace telltale
