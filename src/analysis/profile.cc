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
    to.inner += from.inner;
    to.open_self += from.open_self;
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
  other = ProfileTable(other.exact_, other.keeps_spread_);
}

Profile ProfileTable::finish() {
  Profile profile;
  profile.functions.reserve(entries_.size());
  for (Entry& entry : entries_) {
    // Entries also exist for functions that were only looked up.
    if (entry.calls == 0 && entry.unfinished == 0 && entry.orphan_exits == 0) continue;
    const auto quantile = [&](double fraction) -> Ticks {
      if (!keeps_spread_) return 0;
      // A bucket's middle may lie outside the range of values.
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
                                 .self = entry.sum - entry.inner + entry.open_self,
                                 .min = entry.calls == 0 || !keeps_spread_ ? 0 : entry.min,
                                 .max = entry.max,
                                 .median = quantile(0.5),
                                 .p90 = quantile(0.9),
                                 .p99 = quantile(0.99)});
  }
  std::ranges::sort(profile.functions, {}, [](const FunctionProfile& row) { return row.function; });
  return profile;
}

void ProfileSink::note(ProfileTable::Entry& entry) {
  noted_.emplace_back(&entry, entry.sum);
  entry.nested = 0;
  entry.outer = ProfileTable::Entry::kClosed;
}

ProfileSink::Frame* ProfileSink::grow(Frame* top) {
  const auto depth = static_cast<size_t>(top - frames_.data());
  frames_.resize(frames_.size() * 2);
  return frames_.data() + depth;
}

void ProfileSink::end_stretch(Frame& bottom) {
  ProfileRest::Stretch& stretch = rest_.stretches.back();
  stretch.child_ticks = bottom.child_ticks;
  bottom.child_ticks = 0;
  for (const auto& [entry, sum_before] : noted_) {
    stretch.outermost.emplace_back(entry->function, entry->sum - sum_before - entry->nested);
    entry->outer = ProfileTable::Entry::kUnnoted;
  }
  noted_.clear();
}

ProfileSink::Position ProfileSink::leave_other(Position at, Ticks time, FunctionId function,
                                               LeaveKind how) {
  Frame* const bottom = frames_.data();
  if (at.top == bottom) {
    ++at.events;
    end_stretch(*bottom);
    ProfileRest::Stretch& stretch = rest_.stretches.back();
    stretch.time = time;
    stretch.function = function;
    stretch.how = how;
    rest_.stretches.emplace_back();
    return at;
  }
  if (!(*table_)[function].is_open()) {
    at.stopped = true;
    rest_.stopped_at = at.events;
    return at;
  }
  ++at.events;
  while (at.top->entry->function != function)
    at.top = close_top(bottom, at.top, time, CloseKind::unwound);
  at.top = close_top(bottom, at.top, time,
                     how == LeaveKind::exception ? CloseKind::unwound : CloseKind::returned);
  return at;
}

void ProfileSink::end_unit() {
  Frame* const bottom = frames_.data();
  end_stretch(*bottom);
  rest_.opened.reserve(static_cast<size_t>(position_.top - bottom));
  for (Frame* frame = bottom + 1; frame <= position_.top; ++frame) {
    rest_.opened.push_back({frame->entry->function, frame->entered, frame->child_ticks});
  }
  rest_.latest = position_.latest;
  position_.top = bottom;
}

void ProfileStream::settle(const ProfileRest& rest) {
  for (size_t i = 0; i < rest.stretches.size(); ++i) {
    const ProfileRest::Stretch& stretch = rest.stretches[i];
    if (!calls_.frames().empty()) calls_.frames().back().child_ticks += stretch.child_ticks;
    for (const auto& [function, ticks] : stretch.outermost) {
      if (!calls_.is_open(function)) table_[function].total += ticks;
    }
    if (i + 1 != rest.stretches.size()) leave(stretch.time, stretch.function, stretch.how);
  }
  for (const ProfiledCall& call : rest.opened) calls_.enter(call);
  latest_ = std::max(latest_, rest.latest);
}

Ticks ProfileStream::hand_on(const ProfiledCall& call, Ticks time, size_t depth) {
  // The clock may have gone back between units.
  const Ticks duration = time > call.entered ? time - call.entered : 0;
  if (!calls_.is_open(call.function)) table_[call.function].total += duration;
  if (depth != 0) calls_.frames()[depth - 1].child_ticks += duration;
  return duration;
}

void ProfileStream::leave(Ticks time, FunctionId function, LeaveKind how) {
  const bool found =
      calls_.leave(function, how, [&](ProfiledCall& call, CloseKind kind, size_t depth) {
        const Ticks duration = hand_on(call, time, depth);
        table_.add_call(table_[call.function], duration, std::min(call.child_ticks, duration),
                        kind);
      });
  if (!found) ++table_[function].orphan_exits;
}

void ProfileStream::end_stream() {
  calls_.close_all(CloseKind::unfinished, [&](ProfiledCall& call, CloseKind, size_t depth) {
    const Ticks duration = hand_on(call, latest_, depth);
    ProfileTable::Entry& entry = table_[call.function];
    ++entry.unfinished;
    entry.open_self += duration - std::min(call.child_ticks, duration);
  });
  latest_ = 0;
}

}  // namespace telltale
