#include "formats/xray/basic_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "formats/xray/record_fields.h"

namespace telltale::xray {
namespace {

// The codec that reads the fields of a basic record (record_fields.h).
class BasicRecordReader {
 public:
  BasicRecordReader(Bytes record, std::endian order, uint16_t version)
      : record_(record), order_(order), version_(version) {}

  [[nodiscard]] uint16_t version() const { return version_; }
  template <std::integral T>
  void number_at(size_t place, std::string_view name, T& value) {
    value = Cursor(record_.subspan(place, sizeof(T)), order_).read<T>(name);
  }
  void kind_at(size_t place, BasicKind& kind) {
    kind = static_cast<BasicKind>(std::to_integer<uint8_t>(record_[place]));
  }

 private:
  Bytes record_;
  std::endian order_;
  uint16_t version_;
};

}  // namespace

Result<BasicRecord> read_basic_record(Cursor& in, uint16_t version) {
  BasicRecord record;
  record.offset = in.offset();
  in.begin_record("BasicRecord");
  const Bytes raw = in.take(kBasicRecordBytes, "record");
  if (in.error()) return std::unexpected(*in.error());
  const auto type = Cursor(raw, in.order()).read<uint16_t>("type");
  if (type == static_cast<uint16_t>(BasicRecordType::argument))
    record.type = BasicRecordType::argument;
  BasicRecordReader reader(raw, in.order(), version);
  fields(reader, record);
  if (record.type == BasicRecordType::argument) return record;
  if (type != static_cast<uint16_t>(BasicRecordType::normal)) {
    in.fail_at(record.offset, Error::Cause::bad_field, fmt::format("unknown record type {}", type));
  } else if (record.kind > BasicKind::enter_args) {
    in.fail_at(record.offset, Error::Cause::bad_field,
               fmt::format("unknown record kind {}", static_cast<unsigned>(record.kind)));
  }
  if (in.error()) return std::unexpected(*in.error());
  return record;
}

Problem bad_basic_record(const Error& error, const std::string& file_name) {
  return {
      Problem::Kind::corruption, error.offset.value_or(0), file_name, "BasicRecord", error.detail,
      kBasicRecordBytes};
}

Problem torn_basic_record(uint64_t offset, uint64_t bytes, const std::string& file_name) {
  return {Problem::Kind::torn_tail,
          offset,
          file_name,
          "BasicRecord",
          fmt::format("the file ends after {} of {} bytes", bytes, kBasicRecordBytes),
          bytes};
}

namespace {

constexpr uint64_t kMaxRunBytes = uint64_t{4} << 20;

// Finds records that a log contains twice. The runtime collects records in a buffer of each thread.
// A process that forks leaves its child a copy of what it has not written yet, with its own thread
// and process id, and both write it: the child when its buffer is full or when it ends, the parent
// before or after that.
class CopyFinder {
 public:
  CopyFinder(Bytes file, const FileHeader& header, const std::vector<BasicRun>& runs)
      : file_(file),
        header_(header),
        runs_(runs),
        budget_(file.size() / kBasicRecordBytes * kMostReads) {}

  // Whether the next record of the log is a copy of an earlier one. `begins`: the record before it
  // is of another thread.
  bool is_copy(const BasicRecord& record, bool begins) {
    if (thread_ == nullptr || begins) thread_ = &threads_[{record.pid, record.tid}];
    if (thread_->original && same_bytes(*thread_->original, record.offset)) {
      ++copies_;
      step();
      return true;
    }
    thread_->original.reset();
    if (record.type == BasicRecordType::argument) return false;
    // A thread's records are in order of time unless its processors' clocks differ.
    const bool back = record.tsc < thread_->latest || (begins && record.tsc == thread_->latest);
    if (back && budget_ != 0 && !thread_->runs.empty() && find(record)) {
      if (copies_++ == 0) first_ = record.offset;
      step();
      return true;
    }
    thread_->latest = std::max(thread_->latest, record.tsc);
    return false;
  }
  // The record for which is_copy() has returned false begins the last run.
  void begin_run() { thread_->runs.push_back(runs_.size() - 1); }

  void report(const std::string& file_name, ProblemLog& problems) const {
    if (copies_ == 0) return;
    problems.add({Problem::Kind::copies, first_, file_name, "BasicRecord",
                  fmt::format("{} of earlier ones from here on, not counted again: a process that "
                              "forks leaves its child what it has not written yet, and both write "
                              "it",
                              copies_ == 1 ? "1 copy" : fmt::format("{} copies", copies_)),
                  0});
  }

 private:
  struct Place {
    size_t run = 0;  // in Thread::runs
    uint64_t offset = 0;
  };
  struct Thread {
    std::vector<size_t> runs;  // in runs_; in order of time
    uint64_t latest = 0;
    std::optional<Place> original;  // of the next record, if it is a copy, too
  };

  // A hostile file could make every search long.
  static constexpr uint64_t kMostReads = 16;  // for each record of the file

  [[nodiscard]] BasicRecord read(uint64_t offset) {
    if (budget_ != 0) --budget_;
    Cursor in(file_.subspan(static_cast<size_t>(offset), kBasicRecordBytes), header_.order, offset);
    return read_basic_record(in, header_.version).value_or(BasicRecord{});
  }
  [[nodiscard]] bool same_bytes(const Place& place, uint64_t offset) const {
    return std::ranges::equal(file_.subspan(static_cast<size_t>(place.offset), kBasicRecordBytes),
                              file_.subspan(static_cast<size_t>(offset), kBasicRecordBytes));
  }
  [[nodiscard]] const BasicRun& run(size_t of_thread) const {
    return runs_[thread_->runs[of_thread]];
  }
  // To the record after the original of the latest copy.
  void step() {
    Place& place = *thread_->original;
    place.offset += kBasicRecordBytes;
    if (place.offset < run(place.run).end) return;
    if (++place.run == thread_->runs.size()) {
      thread_->original.reset();
    } else {
      place.offset = run(place.run).begin;
    }
  }
  // Sets `original` to an earlier record with the same bytes.
  bool find(const BasicRecord& record) {
    const auto later = std::ranges::lower_bound(
        thread_->runs, record.tsc, {}, [&](size_t index) { return runs_[index].first_tsc; });
    const auto at = static_cast<size_t>(later - thread_->runs.begin());
    return (at != thread_->runs.size() && find_in(at, record)) ||
           (at != 0 && find_in(at - 1, record));
  }
  bool find_in(size_t of_thread, const BasicRecord& record) {
    const BasicRun& in = run(of_thread);
    const auto is_argument = [&](uint64_t offset) {
      return read(offset).type == BasicRecordType::argument;
    };
    uint64_t low = in.begin;
    uint64_t high = in.end;
    while (low < high) {
      const uint64_t middle = low + (high - low) / kBasicRecordBytes / 2 * kBasicRecordBytes;
      uint64_t call = middle;
      while (budget_ != 0 && call < high && is_argument(call)) call += kBasicRecordBytes;
      if (call < high && read(call).tsc < record.tsc) {
        low = call + kBasicRecordBytes;
      } else {
        high = middle;
      }
    }
    for (; budget_ != 0 && low < in.end && (is_argument(low) || read(low).tsc == record.tsc);
         low += kBasicRecordBytes) {
      const Place place{of_thread, low};
      if (!same_bytes(place, record.offset)) continue;
      thread_->original = place;
      return true;
    }
    return false;
  }

  Bytes file_;
  const FileHeader& header_;
  const std::vector<BasicRun>& runs_;
  std::map<std::pair<uint32_t, uint32_t>, Thread> threads_;  // by process and thread id
  Thread* thread_ = nullptr;                                 // of the latest record
  uint64_t budget_;                                          // of records that searches may read
  uint64_t copies_ = 0;
  uint64_t first_ = 0;  // offset of the first copy
};

}  // namespace

std::vector<BasicRun> find_basic_runs(Bytes file, const FileHeader& header,
                                      const std::string& file_name, ProblemLog& problems) {
  std::vector<BasicRun> runs;
  CopyFinder copies(file, header, runs);
  std::optional<std::pair<uint32_t, uint32_t>> thread;  // of the record before
  bool after_copy = false;
  std::optional<int32_t> entered;  // with arguments, by the record before
  uint64_t at = kFileHeaderBytes;
  for (; at + kBasicRecordBytes <= file.size(); at += kBasicRecordBytes) {
    Cursor in(file.subspan(static_cast<size_t>(at), kBasicRecordBytes), header.order, at);
    const Result<BasicRecord> record = read_basic_record(in, header.version);
    if (!record) {
      problems.add(bad_basic_record(record.error(), file_name));
      continue;
    }
    const std::pair of{record->pid, record->tid};
    const bool begins = thread != of;
    thread = of;
    if (copies.is_copy(*record, begins)) {
      after_copy = true;
      continue;
    }
    // Keeps an argument with its call.
    const bool full = !runs.empty() && at - runs.back().begin >= kMaxRunBytes &&
                      record->type == BasicRecordType::normal;
    const bool gap = std::exchange(after_copy, false);
    if (begins || full || gap) {
      runs.push_back({.begin = at, .end = at, .tid = record->tid, .pid = record->pid});
      copies.begin_run();
      entered.reset();
    }
    BasicRun& run = runs.back();
    run.end = at + kBasicRecordBytes;
    if (record->type == BasicRecordType::argument) {
      if (entered != record->function_id && run.orphan_arguments++ == 0) run.first_orphan = at;
      continue;
    }
    if (run.first_tsc == 0) run.first_tsc = record->tsc;
    entered.reset();
    if (record->kind == BasicKind::enter_args) entered = record->function_id;
  }
  copies.report(file_name, problems);
  if (at < file.size()) {
    problems.add(torn_basic_record(at, file.size() - at, file_name));
  }
  return runs;
}

}  // namespace telltale::xray
