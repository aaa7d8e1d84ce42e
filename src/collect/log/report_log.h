#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.h"

namespace telltale::collect {

// The log that a server appends to. One thread writes all entries that wait, and makes
// them durable with one fdatasync (group commit).
//
// After a failed write the segment is cut to its last whole entry. A failed fdatasync is final for
// a segment, because the kernel may have dropped the data: the next entries go to a new one.
//
// A segment gets its name when it is locked. Between creation and lock a fold would take it for an
// ended one, and remove it while entries are written.
class ReportLog {
 public:
  // Called on the log's thread: the entry is on the disk, or why it is not.
  using Done = std::function<void(Result<void>)>;

  // Appends to new segments in `folder`, which exists, with numbers from `first_number`.
  ReportLog(std::string folder, uint64_t first_number, uint64_t segment_bytes);
  ReportLog(const ReportLog&) = delete;
  ReportLog& operator=(const ReportLog&) = delete;
  ~ReportLog();  // after everything that waits is written

  // Thread-safe.
  void append(std::string payload, Done done);
  // Calls `done` when everything that was appended before is written or has failed.
  void after_pending(Done done);
  // Ends the segment, if it has entries, so that it can be folded.
  void roll();
  [[nodiscard]] uint64_t waiting_bytes() const;
  // The bytes of all segments that this log has ended or is writing.
  [[nodiscard]] uint64_t written_bytes() const;
  [[nodiscard]] uint64_t syncs() const;

 private:
  struct Task {
    std::string head;
    std::string payload;  // both empty: only `done`
    Done done;
    bool roll = false;
  };
  void push(Task task);
  void run();
  void write(std::vector<Task>& batch);
  Result<void> write_entries(const std::vector<Task>& batch);
  Result<void> open_segment();
  void close_segment();

  const std::string folder_;
  const uint64_t segment_bytes_;
  uint64_t number_;
  std::string path_;  // of the segment
  int file_ = -1;     // -1: the next entry begins a segment
  uint64_t size_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<Task> waiting_;
  uint64_t waiting_bytes_ = 0;
  uint64_t written_bytes_ = 0;
  uint64_t syncs_ = 0;
  bool ends_ = false;
  std::thread thread_;  // last: it uses the members above
};

// "STORE/log/0000001764000000000000.log"
std::string segment_path(const std::string& folder, uint64_t number);
// How the name of a segment ends that is not locked yet: after a crash, of one without entries.
constexpr std::string_view kUnlockedSegment = ".begun";

}  // namespace telltale::collect
