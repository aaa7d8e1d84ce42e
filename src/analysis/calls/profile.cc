#include "analysis/calls/profile.h"

namespace telltale {
ProfileTable::Entry& ProfileTable::add(FunctionId function) {
  Entry& entry = entries_.emplace_back();
  entry.key = to_number(function);
  entry.durations = DurationHistogram(exact_);
  return entry;
}

void ProfileTable::merge(ProfileTable& other) {
  for (const Entry& from : other.entries_) {
    Entry& to = (*this)[from.function()];
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
  }
  other = ProfileTable(other.exact_, other.keeps_spread_);
}

Profile ProfileTable::finish() {
  Profile profile;
  profile.functions.reserve(entries_.size());
  for (Entry& entry : entries_) {
    const uint64_t ended = calls(entry);
    // Entries also exist for functions that were only looked up.
    if (ended == 0 && entry.unfinished == 0 && entry.orphan_exits == 0) continue;
    const auto quantile = [&](double fraction) -> Ticks {
      if (!keeps_spread_) return 0;
      // A bucket's middle may lie outside the range of values.
      return std::clamp(entry.durations.quantile(fraction), std::min(entry.min, entry.max),
                        entry.max);
    };
    profile.functions.push_back({.function = entry.function(),
                                 .calls = ended,
                                 .unwound = entry.unwound,
                                 .unfinished = entry.unfinished,
                                 .orphan_exits = entry.orphan_exits,
                                 .sum = entry.sum,
                                 .total = entry.total,
                                 .self = entry.sum - entry.inner + entry.open_self,
                                 .min = ended == 0 || !keeps_spread_ ? 0 : entry.min,
                                 .max = entry.max,
                                 .median = quantile(0.5),
                                 .p90 = quantile(0.9),
                                 .p99 = quantile(0.99)});
  }
  std::ranges::sort(profile.functions, {}, [](const FunctionProfile& row) { return row.function; });
  return profile;
}

void ProfileSink::note(Entry& entry) {
  noted_.emplace_back(&entry, entry.sum);
  entry.nested = 0;
  entry.outer = Entry::kClosed;
}

ProfileSink::Frame* ProfileSink::make_room(Frame* top, uint64_t events) {
  if (stopped_at_ != nullptr) {
    ignored_ += events;
    return top;
  }
  const uintptr_t old_bottom = address(frames_.data());
  const auto depth = static_cast<size_t>(top - frames_.data());
  frames_.resize(frames_.size() * 2);
  for (const auto& [entry, sum_before] : noted_) {
    if (entry->is_open()) entry->outer += address(frames_.data()) - old_bottom;
  }
  limit_ = &frames_.back();
  return frames_.data() + depth;
}

void ProfileSink::end_stretch(Frame& bottom) {
  ProfileCarry::Stretch& stretch = carry_.stretches.back();
  stretch.child_ticks = bottom.child_ticks;
  bottom.child_ticks = 0;
  for (const auto& [entry, sum_before] : noted_) {
    stretch.outermost.emplace_back(entry->function(), entry->sum - sum_before - entry->nested);
    entry->outer = Entry::kUnnoted;
  }
  noted_.clear();
}

ProfileSink::Frame* ProfileSink::close_top(Frame* top, Ticks time, CloseKind how) const {
  return table_->keeps_spread() ? close_top<true>(top, time, how)
                                : close_top<false>(top, time, how);
}

ProfileSink::Frame* ProfileSink::leave_other(Frame* top, Ticks time, FunctionId function,
                                             LeaveKind how) {
  Frame* const bottom = frames_.data();
  if (stopped_at_ != nullptr) {
    ++ignored_;
    return bottom;
  }
  if (top == bottom) {
    end_stretch(*bottom);
    ProfileCarry::Stretch& stretch = carry_.stretches.back();
    stretch.time = time;
    stretch.function = function;
    stretch.how = how;
    carry_.stretches.emplace_back();
    return top;
  }
  if (!(*table_)[function].is_open()) {
    stopped_at_ = top;
    ignored_ = 1;
    limit_ = bottom;
    return bottom;
  }
  while (top->entry->function() != function) top = close_top(top, time, CloseKind::unwound);
  return close_top(top, time,
                   how == LeaveKind::exception ? CloseKind::unwound : CloseKind::returned);
}

void ProfileSink::end_shard() {
  Frame* const bottom = frames_.data();
  const Frame* const top = stopped_at_ != nullptr ? stopped_at_ : top_;
  end_stretch(*bottom);
  carry_.opened.reserve(static_cast<size_t>(top - bottom));
  for (const Frame* frame = bottom + 1; frame <= top; ++frame) {
    carry_.opened.push_back({frame->entry->function(), frame->entered, frame->child_ticks});
  }
  carry_.latest = latest_;
  if (stopped_at_ != nullptr) carry_.stopped_at = events_ - ignored_;
  top_ = bottom;
}

void ProfileStream::settle(const ProfileCarry& rest) {
  for (size_t i = 0; i < rest.stretches.size(); ++i) {
    const ProfileCarry::Stretch& stretch = rest.stretches[i];
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
  // The clock may have gone back between shards.
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
