#include "analysis/profile.h"

namespace telltale {
namespace {

// Element floor(n * fraction) of `durations` in sorted order.
Ticks exact_quantile(std::vector<Ticks>& durations, double fraction) {
  if (durations.empty()) return 0;
  const auto rank = std::min(durations.size() - 1,
                             static_cast<size_t>(static_cast<double>(durations.size()) * fraction));
  const auto element = durations.begin() + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(durations.begin(), element, durations.end());
  return *element;
}

}  // namespace

ProfileTable::Entry& ProfileTable::add(FunctionId function) {
  Entry& entry = entries_.emplace_back();
  entry.function = function;
  return entry;
}

void ProfileTable::merge(ProfileTable& other) {
  for (Entry& from : other.entries_) {
    Entry& to = (*this)[from.function];
    to.calls += from.calls;
    to.sum += from.sum;
    to.total += from.total;
    to.self += from.self;
    to.min = std::min(to.min, from.min);
    to.max = std::max(to.max, from.max);
    to.unwound += from.unwound;
    to.unfinished += from.unfinished;
    to.orphan_exits += from.orphan_exits;
    to.durations.merge(from.durations);
    to.all_durations.insert(to.all_durations.end(), from.all_durations.begin(),
                            from.all_durations.end());
    from.all_durations = {};
  }
  other = ProfileTable(other.exact_);
}

Profile ProfileTable::finish() {
  Profile profile;
  profile.functions.reserve(entries_.size());
  for (Entry& entry : entries_) {
    // Entries are also made for functions that are only asked about.
    if (entry.calls == 0 && entry.unfinished == 0 && entry.orphan_exits == 0) continue;
    const auto quantile = [&](double fraction) {
      // A bucket's middle may lie outside of what was seen.
      return exact_ ? exact_quantile(entry.all_durations, fraction)
                    : std::clamp(entry.durations.quantile(fraction), std::min(entry.min, entry.max),
                                 entry.max);
    };
    profile.functions.push_back({.function = entry.function,
                                 .calls = entry.calls,
                                 .unwound = entry.unwound,
                                 .unfinished = entry.unfinished,
                                 .orphan_exits = entry.orphan_exits,
                                 .sum = entry.sum,
                                 .total = entry.total,
                                 .self = entry.self,
                                 .min = entry.calls == 0 ? 0 : entry.min,
                                 .max = entry.max,
                                 .median = quantile(0.5),
                                 .p90 = quantile(0.9),
                                 .p99 = quantile(0.99)});
  }
  std::ranges::sort(profile.functions, {}, [](const FunctionProfile& row) { return row.function; });
  return profile;
}

void ProfileSink::end_unit() {
  const std::vector<Frame>& frames = calls_.frames();
  carry_.still_open = lowest_;
  for (size_t depth = 0; depth < frames.size(); ++depth) {
    if (depth < lowest_) {
      carry_.child_ticks[depth] = frames[depth].child_ticks;
    } else {
      carry_.new_child_ticks.push_back(frames[depth].child_ticks);
    }
  }
  calls_.close_all(CloseKind::unfinished, [](Frame&, CloseKind, size_t) {});
}

void ProfileCarry::pass(const ProfileSink::Carry& carry, bool first_unit, ProfileTable& table) {
  if (first_unit) child_ticks_.clear();
  // Calls from earlier units that ended in this one: their callees' time in earlier units is not
  // their own.
  for (size_t depth = carry.still_open; depth < child_ticks_.size(); ++depth) {
    table[carry.functions[depth]].self -= child_ticks_[depth];
  }
  child_ticks_.resize(carry.still_open);
  for (size_t depth = 0; depth < carry.still_open; ++depth)
    child_ticks_[depth] += carry.child_ticks[depth];
  child_ticks_.insert(child_ticks_.end(), carry.new_child_ticks.begin(),
                      carry.new_child_ticks.end());
}

}  // namespace telltale
