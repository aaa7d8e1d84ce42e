#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace telltale {

// Passes on the workers' results in the order of the items, as soon as all previous ones are done.
//   take(item, Value&&)   one at a time, items 0, 1, 2 ...
template <typename Value, typename Take>
class InOrder {
 public:
  InOrder(size_t items, Take take) : waiting_(items), take_(std::move(take)) {}

  // Called once per item, from any thread.
  void put(size_t item, Value value) {
    const std::lock_guard lock(mutex_);
    waiting_[item].emplace(std::move(value));
    for (; next_ < waiting_.size() && waiting_[next_]; ++next_) {
      take_(next_, *std::move(waiting_[next_]));
      waiting_[next_].reset();
    }
  }

 private:
  std::mutex mutex_;
  size_t next_ = 0;
  std::vector<std::optional<Value>> waiting_;
  Take take_;
};

}  // namespace telltale
