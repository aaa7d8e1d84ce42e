#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace telltale {

// One T per worker, created on first use; lives as long as this. Sinks of a worker share it without
// locks, as they never run concurrently.
template <typename T>
class WorkerLocal {
 public:
  T& of(size_t worker) {
    const std::lock_guard lock(mutex_);
    return values_[worker];
  }

 private:
  std::mutex mutex_;
  std::map<size_t, T> values_;
};

}  // namespace telltale
