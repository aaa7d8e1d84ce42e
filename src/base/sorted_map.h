#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace telltale {

// A map in one piece of memory: entries in the order of their keys. Adding keys in their order, and
// joining two maps, takes a step for each entry; a key in the middle moves all that come after it.
// What changes the map makes iterators invalid.
template <typename Key, typename Value>
class SortedMap {
 public:
  using key_type = Key;
  using mapped_type = Value;
  using value_type = std::pair<Key, Value>;
  using iterator = typename std::vector<value_type>::iterator;
  using const_iterator = typename std::vector<value_type>::const_iterator;

  SortedMap() = default;
  // Of entries with one key, the first is kept.
  SortedMap(std::initializer_list<value_type> entries)
      : SortedMap(entries.begin(), entries.end()) {}
  template <typename Iterator>
  SortedMap(Iterator begin, Iterator end) {
    for (; begin != end; ++begin) try_emplace(begin->first, begin->second);
  }

  // Values can be changed through them; keys must not be.
  [[nodiscard]] iterator begin() { return entries_.begin(); }
  [[nodiscard]] iterator end() { return entries_.end(); }
  [[nodiscard]] const_iterator begin() const { return entries_.begin(); }
  [[nodiscard]] const_iterator end() const { return entries_.end(); }
  [[nodiscard]] size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  void reserve(size_t count) { entries_.reserve(count); }

  [[nodiscard]] iterator find(const Key& key) { return found(*this, key); }
  [[nodiscard]] const_iterator find(const Key& key) const { return found(*this, key); }
  [[nodiscard]] bool contains(const Key& key) const { return find(key) != end(); }
  [[nodiscard]] const Value& at(const Key& key) const { return find(key)->second; }

  // The entry with the key, and whether it is new.
  std::pair<iterator, bool> try_emplace(const Key& key, Value value = {}) {
    if (entries_.empty() || entries_.back().first < key) {
      entries_.emplace_back(key, std::move(value));
      return {std::prev(entries_.end()), true};
    }
    const iterator place = std::ranges::lower_bound(entries_, key, {}, &value_type::first);
    if (place->first == key) return {place, false};
    return {entries_.emplace(place, key, std::move(value)), true};
  }
  Value& operator[](const Key& key) { return try_emplace(key).first->second; }

  // Adds the entries of `more`. Where both have a key, calls `join` with the entry here and the
  // value there.
  template <typename Join>
  void join(const SortedMap& more, const Join& join) {
    if (entries_.empty()) {
      entries_ = more.entries_;
      return;
    }
    std::vector<const value_type*> added;
    auto at = entries_.begin();
    for (const value_type& entry : more.entries_) {
      while (at != entries_.end() && at->first < entry.first) ++at;
      if (at != entries_.end() && at->first == entry.first) {
        join(*at, entry.second);
      } else {
        added.push_back(&entry);
      }
    }
    if (added.empty()) return;
    const auto count = static_cast<std::ptrdiff_t>(entries_.size());
    entries_.reserve(entries_.size() + added.size());
    for (const value_type* const entry : added) entries_.push_back(*entry);
    std::ranges::inplace_merge(entries_, entries_.begin() + count, {}, &value_type::first);
  }

  friend bool operator==(const SortedMap&, const SortedMap&) = default;

 private:
  template <typename Self>
  static auto found(Self& self, const Key& key) {
    const auto place = std::ranges::lower_bound(self.entries_, key, {}, &value_type::first);
    return place != self.entries_.end() && place->first == key ? place : self.entries_.end();
  }

  std::vector<value_type> entries_;
};

}  // namespace telltale
