#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/events.h"

namespace telltale {

// A value per function, value-initialised when first asked for. Small ids, which is what compilers
// hand out, are an array index; large ones, which only odd or hostile recordings have, go through a
// hash table, so that memory follows the number of functions and not the largest id.
template <typename Value>
class FunctionMap {
 public:
  [[gnu::always_inline]] Value& operator[](FunctionId function) {
    const uint32_t id = to_number(function);
    if (id < dense_.size()) [[likely]]
      return dense_[id];
    return slow(id);
  }
  // Null if never asked for with [] (small ids may have been made by a neighbour: then the value is
  // fresh).
  const Value* find(FunctionId function) const {
    const uint32_t id = to_number(function);
    if (id < dense_.size()) return &dense_[id];
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? nullptr : &found->second;
  }
  void clear() {
    dense_.clear();
    sparse_.clear();
  }

 private:
  static constexpr uint32_t kDenseLimit = 1U << 20;

  [[gnu::noinline]] Value& slow(uint32_t id) {
    // The array grows to an id only when that is no more than twice what is there already, or
    // little in itself.
    if (id < kDenseLimit && (id < 4096 || id < 2 * dense_.size() + 8 * sparse_.size())) {
      const size_t old_size = dense_.size();
      dense_.resize(std::max<size_t>(64, size_t{id} + id / 2 + 1));
      for (auto it = sparse_.begin(); it != sparse_.end();) {
        if (it->first >= old_size && it->first < dense_.size()) {
          dense_[it->first] = std::move(it->second);
          it = sparse_.erase(it);
        } else {
          ++it;
        }
      }
      return dense_[id];
    }
    return sparse_[id];
  }

  std::vector<Value> dense_;
  std::unordered_map<uint32_t, Value> sparse_;
};

}  // namespace telltale
