#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/events.h"

namespace telltale {

// A value for each function, value-initialised at first access. Small ids, which compilers assign,
// are an array index; so are the ids just above kSecondWindow, which recorders assign to functions
// themselves. All others, which only odd or hostile recordings have, are in a hash table, so that
// memory depends on the number of functions and not on the largest id.
template <typename Value>
class FunctionMap {
 public:
  static constexpr uint32_t kSecondWindow = 1U << 27;

  [[gnu::always_inline]] Value& operator[](FunctionId function) {
    const uint32_t id = to_number(function);
    if (id < first_.size()) [[likely]]
      return first_[id];
    if (id - kSecondWindow < second_.size()) return second_[id - kSecondWindow];
    return slow(id);
  }
  // Null if never accessed by [] (small ids may exist because of a neighbour: then the value is
  // value-initialised).
  const Value* find(FunctionId function) const {
    const uint32_t id = to_number(function);
    if (id < first_.size()) return &first_[id];
    if (id - kSecondWindow < second_.size()) return &second_[id - kSecondWindow];
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? nullptr : &found->second;
  }
  // The values of the lowest ids, by id. Valid until [] gets a new id.
  [[nodiscard]] std::span<const Value> lowest() const { return first_; }
  void clear() {
    first_.clear();
    second_.clear();
    sparse_.clear();
  }

 private:
  static constexpr uint32_t kDenseLimit = 1U << 20;

  [[gnu::noinline]] Value& slow(uint32_t id) {
    if (Value* const value = grow(first_, 0, id)) return *value;
    if (Value* const value = grow(second_, kSecondWindow, id)) return *value;
    return sparse_[id];
  }
  // The array only grows to an id that is at most twice its size, or small in itself; otherwise
  // null.
  Value* grow(std::vector<Value>& dense, uint32_t begin, uint32_t id) {
    const uint32_t index = id - begin;
    if (index >= kDenseLimit || (index >= 4096 && index >= 2 * dense.size() + 8 * sparse_.size()))
      return nullptr;
    const size_t old_size = dense.size();
    dense.resize(std::max<size_t>(64, size_t{index} + index / 2 + 1));
    for (auto it = sparse_.begin(); it != sparse_.end();) {
      const uint32_t other = it->first - begin;
      if (other >= old_size && other < dense.size()) {
        dense[other] = std::move(it->second);
        it = sparse_.erase(it);
      } else {
        ++it;
      }
    }
    return &dense[index];
  }

  std::vector<Value> first_;
  std::vector<Value> second_;
  std::unordered_map<uint32_t, Value> sparse_;
};

}  // namespace telltale
