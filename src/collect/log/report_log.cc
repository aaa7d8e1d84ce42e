#include "collect/log/report_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "collect/log/durable_file.h"
#include "collect/log/log_segment.h"

namespace telltale::collect {
namespace {

constexpr mode_t kLogFileMode = 0600;
constexpr size_t kMaxParts = 512;  // of one system call; below IOV_MAX

Result<void> write_parts(int file, std::vector<iovec> parts, const std::string& path) {
  for (size_t first = 0; first < parts.size();) {
    const size_t count = std::min(kMaxParts, parts.size() - first);
    ssize_t written = ::writev(file, &parts[first], static_cast<int>(count));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error(path, "cannot write", errno);
    for (; first < parts.size() && static_cast<size_t>(written) >= parts[first].iov_len; ++first)
      written -= static_cast<ssize_t>(parts[first].iov_len);
    if (written > 0) {
      parts[first].iov_base = static_cast<char*>(parts[first].iov_base) + written;
      parts[first].iov_len -= static_cast<size_t>(written);
    }
  }
  return {};
}

iovec part_of(const std::string& text) { return {const_cast<char*>(text.data()), text.size()}; }

}  // namespace

std::string segment_path(const std::string& folder, uint64_t number) {
  return fmt::format("{}/{:020}.log", folder, number);
}

ReportLog::ReportLog(std::string folder, uint64_t first_number, uint64_t segment_bytes)
    : folder_(std::move(folder)),
      segment_bytes_(segment_bytes),
      number_(first_number),
      thread_([this] { run(); }) {}

ReportLog::~ReportLog() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ready_.notify_one();
  thread_.join();
  close_segment();
}

void ReportLog::push(Task task) {
  {
    const std::lock_guard lock(mutex_);
    waiting_bytes_ += task.payload.size();
    waiting_.push_back(std::move(task));
  }
  ready_.notify_one();
}

void ReportLog::append(std::string payload, Done done) {
  std::string head = entry_head(payload);
  push({std::move(head), std::move(payload), std::move(done), false});
}
void ReportLog::after_pending(Done done) { push({{}, {}, std::move(done), false}); }
void ReportLog::roll() { push({{}, {}, {}, true}); }

uint64_t ReportLog::waiting_bytes() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes_;
}
uint64_t ReportLog::written_bytes() const {
  const std::lock_guard lock(mutex_);
  return written_bytes_;
}
uint64_t ReportLog::syncs() const {
  const std::lock_guard lock(mutex_);
  return syncs_;
}

void ReportLog::run() {
  std::vector<Task> batch;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      batch.swap(waiting_);
    }
    write(batch);
    batch.clear();
  }
}

void ReportLog::write(std::vector<Task>& batch) {
  const bool has_entries =
      std::ranges::any_of(batch, [](const Task& t) { return !t.head.empty(); });
  const Result<void> written = has_entries ? write_entries(batch) : Result<void>();
  uint64_t bytes = 0;
  for (const Task& task : batch) bytes += task.payload.size();
  {
    const std::lock_guard lock(mutex_);
    waiting_bytes_ -= bytes;
    if (written && has_entries) {
      written_bytes_ += bytes;
      ++syncs_;
    }
  }
  for (Task& task : batch) {
    if (task.done) task.done(task.head.empty() ? Result<void>() : written);
  }
  const bool wants_roll = std::ranges::any_of(batch, &Task::roll);
  if (file_ >= 0 && (size_ >= segment_bytes_ || (wants_roll && size_ > kSegmentHead.size())))
    close_segment();
}

Result<void> ReportLog::write_entries(const std::vector<Task>& batch) {
  if (file_ < 0) {
    if (auto opened = open_segment(); !opened) return opened;
  }
  std::vector<iovec> parts;
  uint64_t bytes = 0;
  for (const Task& task : batch) {
    if (task.head.empty()) continue;
    parts.push_back(part_of(task.head));
    parts.push_back(part_of(task.payload));
    bytes += task.head.size() + task.payload.size();
  }
  if (auto written = write_parts(file_, std::move(parts), path_); !written) {
    if (::ftruncate(file_, static_cast<off_t>(size_)) != 0 ||
        ::lseek(file_, static_cast<off_t>(size_), SEEK_SET) < 0)
      close_segment();
    return written;
  }
  if (::fdatasync(file_) != 0) {
    const int failure = errno;
    close_segment();
    return io_error(path_, "cannot sync", failure);
  }
  size_ += bytes;
  return {};
}

Result<void> ReportLog::open_segment() {
  path_ = segment_path(folder_, number_++);
  if (::access(path_.c_str(), F_OK) == 0) return io_error(path_, "cannot create", EEXIST);
  const std::string unlocked = path_ + std::string(kUnlockedSegment);
  file_ = ::open(unlocked.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kLogFileMode);
  if (file_ < 0) return io_error(unlocked, "cannot create", errno);
  const std::string head(kSegmentHead);
  // Folding leaves locked segments alone.
  Result<void> begun;
  if (::flock(file_, LOCK_EX) != 0) begun = io_error(unlocked, "cannot lock", errno);
  if (begun) begun = write_parts(file_, {part_of(head)}, unlocked);
  if (begun && ::fsync(file_) != 0) begun = io_error(unlocked, "cannot sync", errno);
  if (begun && ::rename(unlocked.c_str(), path_.c_str()) != 0)
    begun = io_error(path_, "cannot rename", errno);
  if (begun) begun = sync_folder(folder_);
  if (!begun) {
    ::unlink(unlocked.c_str());
    ::unlink(path_.c_str());
    close_segment();
    return begun;
  }
  size_ = kSegmentHead.size();
  return {};
}

void ReportLog::close_segment() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  size_ = 0;
}

}  // namespace telltale::collect
