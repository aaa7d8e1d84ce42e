#pragma once

#include <boost/container/flat_map.hpp>
#include <utility>
#include <vector>

namespace telltale {

// Adds the entries of `more` to `all`, in a step for each entry of both. Where both have a key,
// calls `join` with the entry of `all` and the value of `more`.
template <typename Key, typename Value, typename Join>
void join_maps(boost::container::flat_map<Key, Value>& all,
               const boost::container::flat_map<Key, Value>& more, const Join& join) {
  std::vector<std::pair<Key, Value>> added;
  auto at = all.begin();
  for (const auto& entry : more) {
    while (at != all.end() && at->first < entry.first) ++at;
    if (at != all.end() && at->first == entry.first) {
      join(*at, entry.second);
    } else {
      added.emplace_back(entry.first, entry.second);
    }
  }
  all.insert(boost::container::ordered_unique_range, added.begin(), added.end());
}

}  // namespace telltale
