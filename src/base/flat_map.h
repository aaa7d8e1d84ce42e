#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace telltale {

// A map in one array, in the order of its keys: for what is mostly added in order. Adding a key in
// the middle moves those after it.
template <typename Key, typename Value>
class FlatMap {
 public:
  using key_type = Key;
  using mapped_type = Value;
  using value_type = std::pair<Key, Value>;
  using iterator = typename std::vector<value_type>::iterator;
  using const_iterator = typename std::vector<value_type>::const_iterator;

  FlatMap() = default;
  FlatMap(std::initializer_list<value_type> entries) {
    for (const value_type& entry : entries) try_emplace(entry.first, entry.second);
  }

  // Keys must not be changed.
  [[nodiscard]] iterator begin() { return entries_.begin(); }
  [[nodiscard]] iterator end() { return entries_.end(); }
  [[nodiscard]] const_iterator begin() const { return entries_.begin(); }
  [[nodiscard]] const_iterator end() const { return entries_.end(); }
  [[nodiscard]] size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  void reserve(size_t count) { entries_.reserve(count); }

  [[nodiscard]] iterator find(const Key& key) {
    const iterator at = lower_bound(key);
    return at != end() && at->first == key ? at : end();
  }
  [[nodiscard]] const_iterator find(const Key& key) const {
    const const_iterator at = std::ranges::lower_bound(entries_, key, {}, &value_type::first);
    return at != end() && at->first == key ? at : end();
  }
  [[nodiscard]] bool contains(const Key& key) const { return find(key) != end(); }

  // As std::map's: the entry, and whether it is new. Invalidates iterators if it is.
  std::pair<iterator, bool> try_emplace(const Key& key, Value value = {}) {
    const iterator at = lower_bound(key);
    if (at != end() && at->first == key) return {at, false};
    return {entries_.emplace(at, key, std::move(value)), true};
  }
  Value& operator[](const Key& key) { return try_emplace(key).first->second; }

  bool operator==(const FlatMap&) const = default;

 private:
  iterator lower_bound(const Key& key) {
    if (entries_.empty() || entries_.back().first < key) return end();
    return std::ranges::lower_bound(entries_, key, {}, &value_type::first);
  }

  std::vector<value_type> entries_;
};

}  // namespace telltale
