#include "model/probe_placement.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace telltale {
namespace {

using Blocks = std::uint64_t;  // a set
constexpr std::size_t kMostBlocks = 64;

constexpr Blocks only(std::size_t block) { return Blocks{1} << block; }

template <typename Use>
void for_each(Blocks blocks, Use use) {
  for (; blocks != 0; blocks &= blocks - 1) use(static_cast<std::size_t>(std::countr_zero(blocks)));
}

Blocks set_of(const std::vector<bool>& members) {
  Blocks set = 0;
  for (std::size_t i = 0; i < members.size(); ++i) set |= members[i] ? only(i) : 0;
  return set;
}

std::vector<bool> members_of(Blocks set, std::size_t count) {
  std::vector<bool> members(count);
  for (std::size_t i = 0; i < count; ++i) members[i] = (set & only(i)) != 0;
  return members;
}

// Decides whether a set of probes is enough. It is not if there are two points A and B, a wanted
// block D without probe, and ways from A to B with and without D that pass the same probes:
// those that other parts of the same run pass anyway do not count.
class Judge {
 public:
  Judge(const ProbeProblem& problem, std::uint64_t most_steps)
      : count_(problem.successors.size()),
        stops_(set_of(problem.may_stop)),
        wanted_(set_of(problem.wanted)),
        next_(count_, 0),
        before_(count_, 0),
        steps_left_(most_steps) {
    for (std::size_t i = 0; i < count_; ++i) {
      for (const std::uint32_t successor : problem.successors[i]) {
        next_[i] |= only(successor);
        before_[successor] |= only(i);
      }
    }
  }

  // Nothing once the steps are used up.
  std::optional<bool> determines(Blocks probes) {
    for (Blocks open = wanted_ & ~probes & ~only(0); open != 0; open &= open - 1) {
      if (is_ambiguous(static_cast<std::size_t>(std::countr_zero(open)), probes)) return false;
      if (steps_left_ == 0) return std::nullopt;
    }
    return true;
  }

 private:
  [[nodiscard]] Blocks spread(Blocks from, Blocks allowed, const std::vector<Blocks>& edges) {
    Blocks reached = from & allowed;
    for (Blocks open = reached; open != 0;) {
      steps_left_ -= steps_left_ == 0 ? 0 : 1;
      Blocks more = 0;
      for_each(open, [&](std::size_t block) { more |= edges[block]; });
      open = more & allowed & ~reached;
      reached |= open;
    }
    return reached;
  }

  bool is_ambiguous(std::size_t wanted, Blocks probes) {
    const Blocks others = ~only(wanted);
    const Blocks from_entry = spread(only(0), others, next_);
    const Blocks to_stop = spread(stops_ & others, others, before_);
    for (Blocks a = (probes | only(0)) & from_entry; a != 0; a &= a - 1) {
      const Blocks begin = a & (~a + 1);
      const Blocks passed_before = from_entry & spread(begin, others, before_);
      for (Blocks b = (probes | stops_) & to_stop; b != 0; b &= b - 1) {
        if (steps_left_ == 0) return false;
        const Blocks end = b & (~b + 1);
        const Blocks passed_after = to_stop & spread(end, others, next_);
        const Blocks allowed = ~(probes & ~(passed_before | passed_after));
        if ((spread(begin, allowed & others, next_) & end) == 0) continue;
        if ((spread(begin, allowed, next_) & only(wanted)) == 0) continue;
        if ((spread(only(wanted), allowed, next_) & end) != 0) return true;
      }
    }
    return false;
  }

  std::size_t count_;
  Blocks stops_;
  Blocks wanted_;
  std::vector<Blocks> next_;
  std::vector<Blocks> before_;
  std::uint64_t steps_left_;
};

// Immediate dominators by Cooper, Harvey and Kennedy's iteration.
class DominatorTree {
 public:
  explicit DominatorTree(const std::vector<std::vector<std::uint32_t>>& successors)
      : parent_(successors.size(), kNone), children(successors.size()) {
    number(successors);
    std::vector<std::vector<std::uint32_t>> before(successors.size());
    for (std::uint32_t i = 0; i < successors.size(); ++i) {
      for (const std::uint32_t successor : successors[i]) before[successor].push_back(i);
    }
    parent_[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto block = post_order.rbegin() + 1; block < post_order.rend(); ++block) {
        std::uint32_t found = kNone;
        for (const std::uint32_t from : before[*block]) {
          if (parent_[from] == kNone) continue;
          found = found == kNone ? from : common(from, found);
        }
        changed = changed || parent_[*block] != found;
        parent_[*block] = found;
      }
    }
    for (std::uint32_t i = 1; i < parent_.size(); ++i) {
      if (parent_[i] != kNone) children[parent_[i]].push_back(i);
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  void number(const std::vector<std::vector<std::uint32_t>>& successors) {
    std::vector<std::size_t> next(successors.size(), 0);
    std::vector<bool> seen(successors.size(), false);
    position_.assign(successors.size(), 0);
    std::vector<std::uint32_t> stack{0};
    seen[0] = true;
    while (!stack.empty()) {
      const std::uint32_t block = stack.back();
      if (next[block] < successors[block].size()) {
        const std::uint32_t successor = successors[block][next[block]++];
        if (!seen[successor]) stack.push_back(successor);
        seen[successor] = true;
        continue;
      }
      stack.pop_back();
      position_[block] = static_cast<std::uint32_t>(post_order.size());
      post_order.push_back(block);
    }
  }

  [[nodiscard]] std::uint32_t common(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      while (position_[a] < position_[b]) a = parent_[a];
      while (position_[b] < position_[a]) b = parent_[b];
    }
    return a;
  }

  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> position_;  // in post_order

 public:
  std::vector<std::vector<std::uint32_t>> children;
  std::vector<std::uint32_t> post_order;  // of a depth-first search of the graph
};

// A block that dominates where the activation stopped, or a block that is known to have run, ran
// itself. It needs a probe only if an activation can go on from it to a block that it does not
// dominate without a child in the dominator tree whose run is known.
class SimplePlacement {
 public:
  explicit SimplePlacement(const ProbeProblem& problem)
      : problem_(problem),
        tree_(problem.successors),
        known_(problem.successors.size(), false),
        ends_(blocks_that_can_end()) {}

  std::vector<bool> run() {
    std::vector<bool> probes(known_.size(), false);
    // Children of the dominator tree finish before their parents in post-order.
    for (const std::uint32_t block : tree_.post_order) {
      known_[block] = block == 0 || !escapes(block);
      if (known_[block] || !problem_.wanted[block]) continue;
      probes[block] = known_[block] = true;
    }
    return probes;
  }

 private:
  // From which an activation can end.
  [[nodiscard]] std::vector<bool> blocks_that_can_end() const {
    std::vector<bool> ends = problem_.may_stop;
    for (bool changed = true; changed;) {
      changed = false;
      for (const std::uint32_t block : tree_.post_order) {
        if (ends[block]) continue;
        for (const std::uint32_t successor : problem_.successors[block])
          ends[block] = ends[block] || ends[successor];
        changed = changed || ends[block];
      }
    }
    return ends;
  }

  [[nodiscard]] bool escapes(std::uint32_t block) const {
    std::vector<bool> inside(known_.size(), false);
    std::vector<std::uint32_t> pending{block};
    while (!pending.empty()) {
      const std::uint32_t dominated = pending.back();
      pending.pop_back();
      inside[dominated] = true;
      pending.insert(pending.end(), tree_.children[dominated].begin(),
                     tree_.children[dominated].end());
    }
    std::vector<bool> seen(known_.size(), false);
    for (const std::uint32_t child : tree_.children[block]) seen[child] = known_[child];
    pending.push_back(block);
    while (!pending.empty()) {
      const std::uint32_t at = pending.back();
      pending.pop_back();
      for (const std::uint32_t successor : problem_.successors[at]) {
        if (!inside[successor] && ends_[successor]) return true;
        if (seen[successor] || !inside[successor]) continue;
        seen[successor] = true;
        pending.push_back(successor);
      }
    }
    return false;
  }

  const ProbeProblem& problem_;
  DominatorTree tree_;
  std::vector<bool> known_;  // the rest of the probes tells whether it ran
  std::vector<bool> ends_;
};

// By decreasing cost; of equal ones the last first.
std::vector<std::size_t> most_expensive_first(const ProbeProblem& problem) {
  std::vector<std::size_t> order(problem.cost.size());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return problem.cost[a] > problem.cost[b]; });
  return order;
}

Blocks leave_out(const ProbeProblem& problem, Blocks probes, Judge& judge) {
  for (const std::size_t block : most_expensive_first(problem)) {
    if ((probes & only(block)) == 0) continue;
    const std::optional<bool> enough = judge.determines(probes & ~only(block));
    if (!enough) break;
    if (*enough) probes &= ~only(block);
  }
  return probes;
}

// Branch and bound: each block is left out or taken, the most expensive first. More probes never
// tell less.
class ExactPlacement {
 public:
  ExactPlacement(const ProbeProblem& problem, Blocks best, Judge& judge)
      : problem_(problem),
        judge_(judge),
        order_(most_expensive_first(problem)),
        best_(best),
        best_cost_(cost(best)) {}

  Blocks run(Blocks candidates) {
    decide(0, 0, candidates);
    return best_;
  }

 private:
  [[nodiscard]] double cost(Blocks probes) const {
    double sum = 0;
    for_each(probes, [&](std::size_t block) { sum += problem_.cost[block]; });
    return sum;
  }

  // `taken` are fixed; `possible` are these and those that are not decided yet. REQUIRES:
  // `possible` is enough.
  void decide(std::size_t at, Blocks taken, Blocks possible) {
    while (at < order_.size() && (possible & only(order_[at])) == 0) ++at;
    if (stopped_ || cost(taken) >= best_cost_) return;
    if (at == order_.size()) {
      best_ = taken;
      best_cost_ = cost(taken);
      return;
    }
    const Blocks block = only(order_[at]);
    const std::optional<bool> enough = judge_.determines(possible & ~block);
    stopped_ = stopped_ || !enough;
    if (enough.value_or(false)) decide(at + 1, taken, possible & ~block);
    decide(at + 1, taken | block, possible);
  }

  const ProbeProblem& problem_;
  Judge& judge_;
  std::vector<std::size_t> order_;
  Blocks best_;
  double best_cost_;
  bool stopped_ = false;
};

}  // namespace

std::vector<bool> place_probes(const ProbeProblem& problem, ProbeStyle style,
                               std::uint64_t most_steps) {
  const std::size_t count = problem.successors.size();
  if (style == ProbeStyle::kEvery) return problem.wanted;
  std::vector<bool> simple = SimplePlacement(problem).run();
  if (style == ProbeStyle::kSimple || count > kMostBlocks) return simple;
  Judge judge(problem, most_steps);
  const Blocks candidates = set_of(problem.can_probe);
  const Blocks first = style == ProbeStyle::kLocal ? candidates : set_of(simple);
  const Blocks local = leave_out(problem, first, judge);
  if (style != ProbeStyle::kExact) return members_of(local, count);
  return members_of(ExactPlacement(problem, local, judge).run(candidates), count);
}

bool determines_wanted(const ProbeProblem& problem, const std::vector<bool>& probes) {
  constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  return Judge(problem, kUnlimited).determines(set_of(probes)).value_or(false);
}

}  // namespace telltale
