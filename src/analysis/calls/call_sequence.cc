#include "analysis/calls/call_sequence.h"

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/calls/shortest_way.h"

namespace telltale {
namespace {

using Kind = SequenceEdit::Kind;
using Call = CallSequence::Call;

// Deeper calls that differ are not looked into.
constexpr uint32_t kMostDepth = 1000;

// Elements of one sequence without a partner can often be exchanged for equal neighbours. Moves
// those to where the other sequence has an element of the same name without a partner, if there is
// such a place: the two are then compared.
class Slider {
 public:
  // The names of the elements of both.
  Slider(std::vector<uint32_t> names, std::vector<uint32_t> others, const ShortestWay::Pairs& pairs)
      : here_{std::move(names), {}}, there_{std::move(others), {}} {
    here_.paired.resize(here_.names.size());
    there_.paired.resize(there_.names.size());
    for (const auto& [i, j] : pairs) here_.paired[i] = there_.paired[j] = true;
  }

  // equal(i, k): of elements of the first; other(j, k): of the second.
  template <typename Equal, typename Other>
  ShortestWay::Pairs slide(Equal equal, Other other) {
    slide_all(here_, there_, equal);
    slide_all(there_, here_, other);
    ShortestWay::Pairs pairs;
    for (size_t i = 0, j = 0; i < here_.paired.size(); ++i) {
      if (!here_.paired[i]) continue;
      while (!there_.paired[j]) ++j;
      pairs.emplace_back(i, j++);
    }
    return pairs;
  }

 private:
  static constexpr size_t kMostSteps = 1'000'000;  // together: the work is bounded
  struct Side {
    std::vector<uint32_t> names;
    std::vector<bool> paired;
  };
  using Wanted = std::set<std::pair<size_t, uint32_t>>;  // pairs before the place, and a name

  template <typename Equal>
  void slide_all(Side& side, const Side& there, Equal equal) {
    Wanted wanted;
    for (size_t j = 0, pairs = 0; j < there.names.size(); ++j) {
      if (there.paired[j]) {
        ++pairs;
      } else {
        wanted.emplace(pairs, there.names[j]);
      }
    }
    if (wanted.empty()) return;
    size_t pairs = 0;
    for (size_t i = 0; i < side.names.size(); ++i) {
      if (side.paired[i]) {
        ++pairs;
        continue;
      }
      if (wanted.contains({pairs, side.names[i]})) continue;
      if (slide_up(side, i, pairs, wanted, equal))
        ++pairs;
      else
        slide_down(side, i, pairs, wanted, equal);
    }
  }

  template <typename Equal>
  bool slide_up(Side& side, size_t at, size_t pairs, const Wanted& wanted, Equal equal) {
    for (size_t to = at; to > 0 && steps_ < kMostSteps; ++steps_) {
      --to;
      if (!side.paired[to] || !equal(to, at)) return false;
      if (!wanted.contains({--pairs, side.names[to]})) continue;
      side.paired[at] = true;
      side.paired[to] = false;
      return true;
    }
    return false;
  }
  template <typename Equal>
  void slide_down(Side& side, size_t at, size_t pairs, const Wanted& wanted, Equal equal) {
    for (size_t to = at + 1; to < side.names.size() && steps_ < kMostSteps; ++to, ++steps_) {
      if (!side.paired[to] || !equal(to, at)) return;
      if (!wanted.contains({++pairs, side.names[to]})) continue;
      side.paired[at] = true;
      side.paired[to] = false;
      return;
    }
  }

  Side here_;
  Side there_;
  size_t steps_ = 0;
};

std::vector<size_t> calls_inside(const CallSequence& sequence, size_t begin, size_t end) {
  std::vector<size_t> inside;
  for (size_t at = begin; at < end; at += sequence.calls[at].size) inside.push_back(at);
  return inside;
}

class Aligner {
 public:
  Aligner(const CallSequence& a, const CallSequence& b) : a_(a), b_(b) {}

  SequenceAlignment align() {
    align_level(calls_inside(a_, 0, a_.calls.size()), calls_inside(b_, 0, b_.calls.size()), 0);
    find_moved();
    return std::move(found_);
  }

 private:
  using Calls = std::vector<size_t>;

  void align_level(const Calls& a, const Calls& b, uint32_t depth) {
    size_t begin = 0;
    while (begin < std::min(a.size(), b.size()) && equal(a[begin], b[begin])) ++begin;
    size_t after = 0;
    while (after < std::min(a.size(), b.size()) - begin &&
           equal(a[a.size() - 1 - after], b[b.size() - 1 - after]))
      ++after;
    for (size_t i = 0; i < begin; ++i) add_same(a[i], b[i], depth);
    align_middle(
        {a.begin() + static_cast<ptrdiff_t>(begin), a.end() - static_cast<ptrdiff_t>(after)},
        {b.begin() + static_cast<ptrdiff_t>(begin), b.end() - static_cast<ptrdiff_t>(after)},
        depth);
    for (size_t i = after; i > 0; --i) add_same(a[a.size() - i], b[b.size() - i], depth);
  }

  void align_middle(const Calls& a, const Calls& b, uint32_t depth) {
    if (a.empty() && b.empty()) return;
    const ShortestWay way = find_shortest_way(
        a.size(), b.size(), [&](size_t i, size_t j) { return equal(a[i], b[j]); });
    if (!way.shortest) ++found_.approximate;
    const ShortestWay::Pairs slid =
        Slider(names_of(a_, a), names_of(b_, b), way.pairs)
            .slide([&](size_t i, size_t k) { return same(a_, a[i], a[k]); },
                   [&](size_t j, size_t k) { return same(b_, b[j], b[k]); });
    Between between(a, b);
    for (const auto& [i, j] : slid) {
      const auto [left, right] = between.up_to(i, j);
      align_by_name(left, right, depth);
      add_same(a[i], b[j], depth);
    }
    const auto [left, right] = between.up_to(a.size(), b.size());
    align_by_name(left, right, depth);
  }

  void align_by_name(const Calls& a, const Calls& b, uint32_t depth) {
    if (a.empty() && b.empty()) return;
    const ShortestWay way = find_shortest_way(a.size(), b.size(), [&](size_t i, size_t j) {
      return a_.calls[a[i]].name == b_.calls[b[j]].name;
    });
    if (!way.shortest) ++found_.approximate;
    Between between(a, b);
    for (const auto& [i, j] : way.pairs) {
      add_gap(between.up_to(i, j), depth);
      add_both(a[i], b[j], depth);
    }
    add_gap(between.up_to(a.size(), b.size()), depth);
  }

  // What is between pairs.
  class Between {
   public:
    Between(const Calls& a, const Calls& b) : a_(a), b_(b) {}
    std::pair<Calls, Calls> up_to(size_t i, size_t j) {
      std::pair<Calls, Calls> gap{
          {a_.begin() + static_cast<ptrdiff_t>(at_a_), a_.begin() + static_cast<ptrdiff_t>(i)},
          {b_.begin() + static_cast<ptrdiff_t>(at_b_), b_.begin() + static_cast<ptrdiff_t>(j)}};
      at_a_ = i + 1;
      at_b_ = j + 1;
      return gap;
    }

   private:
    const Calls& a_;
    const Calls& b_;
    size_t at_a_ = 0;
    size_t at_b_ = 0;
  };

  void add_gap(const std::pair<Calls, Calls>& gap, uint32_t depth) {
    for (const size_t i : gap.first) {
      found_.only_a += a_.calls[i].size;
      found_.edits.push_back(
          {.kind = Kind::removed, .depth = depth, .calls = a_.calls[i].size, .a = i});
    }
    for (const size_t j : gap.second) {
      found_.only_b += b_.calls[j].size;
      found_.edits.push_back(
          {.kind = Kind::added, .depth = depth, .calls = b_.calls[j].size, .b = j});
    }
  }

  void add_both(size_t i, size_t j, uint32_t depth) {
    if (equal(i, j)) {
      add_same(i, j, depth);
      return;
    }
    ++found_.same;
    found_.edits.push_back({.kind = Kind::changed, .depth = depth, .calls = 1, .a = i, .b = j});
    const Calls left = calls_inside(a_, i + 1, i + a_.calls[i].size);
    const Calls right = calls_inside(b_, j + 1, j + b_.calls[j].size);
    if (depth < kMostDepth) {
      align_level(left, right, depth + 1);
    } else {
      ++found_.unaligned;
      add_gap({left, right}, depth + 1);
    }
  }

  void add_same(size_t i, size_t j, uint32_t depth) {
    const uint64_t calls = a_.calls[i].size;
    found_.same += calls;
    if (!found_.edits.empty()) {
      SequenceEdit& last = found_.edits.back();
      if (last.kind == Kind::same && last.depth == depth) {
        ++last.count;
        last.calls += calls;
        return;
      }
    }
    found_.edits.push_back({.kind = Kind::same, .depth = depth, .calls = calls, .a = i, .b = j});
  }

  [[nodiscard]] bool equal(size_t i, size_t j) const {
    return a_.calls[i].hash == b_.calls[j].hash && a_.calls[i].size == b_.calls[j].size;
  }

  static std::vector<uint32_t> names_of(const CallSequence& of, const Calls& which) {
    std::vector<uint32_t> names;
    for (const size_t i : which) names.push_back(of.calls[i].name);
    return names;
  }
  static bool same(const CallSequence& of, size_t i, size_t k) {
    return of.calls[i].hash == of.calls[k].hash;
  }

  // Pairs equal subtrees that were removed and added, in order.
  void find_moved() {
    std::unordered_map<uint64_t, std::deque<size_t>> added;  // hash to edits
    for (size_t at = 0; at < found_.edits.size(); ++at) {
      const SequenceEdit& edit = found_.edits[at];
      if (edit.kind == Kind::added && edit.calls > 1) added[b_.calls[edit.b].hash].push_back(at);
    }
    for (SequenceEdit& edit : found_.edits) {
      if (edit.kind != Kind::removed || edit.calls == 1) continue;
      const auto same = added.find(a_.calls[edit.a].hash);
      if (same == added.end() || same->second.empty()) continue;
      SequenceEdit& there = found_.edits[same->second.front()];
      same->second.pop_front();
      edit.kind = Kind::moved;
      there.kind = Kind::arrived;
      edit.b = there.b;
      there.a = edit.a;
      found_.moved += edit.calls;
      found_.only_a -= edit.calls;
      found_.only_b -= edit.calls;
    }
  }

  const CallSequence& a_;
  const CallSequence& b_;
  SequenceAlignment found_;
};

}  // namespace

SequenceAlignment align_call_sequences(const CallSequence& a, const CallSequence& b) {
  return Aligner(a, b).align();
}

}  // namespace telltale
