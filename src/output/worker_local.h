#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace telltale {

// A T for each worker that asks, made when it first does; lives as long as this. What sinks of one
// worker share without locks: they never run at the same time.
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
