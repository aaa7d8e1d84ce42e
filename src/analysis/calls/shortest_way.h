#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace telltale {

// A common subsequence of two sequences: a way from the beginnings of both to their ends, by an
// element of both where they are equal, otherwise by one of the first (across) or of the second
// (down).
struct ShortestWay {
  using Pairs = std::vector<std::pair<size_t, size_t>>;  // indexes of elements of both, ascending
  Pairs pairs;
  bool shortest = true;  // false: there may be a longer common subsequence
};

// The furthest that a way gets with 0, 1, 2 ... differences, on each diagonal k = i - j
// (E. Myers, "An O(ND) difference algorithm and its variations", 1986).
class FurthestWays {
 public:
  // Compares the elements from `begin_i` and `begin_j` on; the sequences end at n and m.
  FurthestWays(size_t begin_i, size_t begin_j, size_t n, size_t m)
      : begin_i_(begin_i),
        begin_j_(begin_j),
        n_(static_cast<int64_t>(n - begin_i)),
        m_(static_cast<int64_t>(m - begin_j)) {}

  // Adds the pairs of the shortest way to the ends. If that has more than `most` differences, those
  // of the way that got furthest with that many. Sets where the way ends.
  template <typename Equal>
  void extend(size_t most, const Equal& equal, ShortestWay::Pairs& pairs, size_t& end_i,
              size_t& end_j) {
    int64_t d = 0;
    for (;; ++d) {
      add_row(d, equal);
      if (furthest(d, n_ - m_) == n_ || d == static_cast<int64_t>(most)) break;
    }
    int64_t k = n_ - m_;
    if (furthest(d, k) != n_) k = best_diagonal(d);
    const int64_t i = furthest(d, k);
    end_i = begin_i_ + static_cast<size_t>(i);
    end_j = begin_j_ + static_cast<size_t>(i - k);
    add_pairs(d, k, pairs);
  }

 private:
  static constexpr int64_t kNone = -1;
  // How a way with one more difference reaches a diagonal, and the i where it does.
  struct Step {
    int64_t i = kNone;
    bool down = false;
  };

  // Rows of all d are stored one after the other: row d has the diagonals -d, -d + 2 ... d.
  [[nodiscard]] static size_t place(int64_t d, int64_t k) {
    return static_cast<size_t>(d * (d + 1) / 2 + (k + d) / 2);
  }
  // The furthest i on diagonal k with d differences.
  [[nodiscard]] int64_t furthest(int64_t d, int64_t k) const {
    return d < 0 || k < -d || k > d || (k + d) % 2 != 0 ? kNone : furthest_[place(d, k)];
  }
  [[nodiscard]] Step step_to(int64_t d, int64_t k) const {
    if (d == 0) return {.i = 0};
    const int64_t above = furthest(d - 1, k + 1);
    const int64_t left = furthest(d - 1, k - 1);
    const bool can_down = above != kNone && above - k <= m_;
    const bool can_across = left != kNone && left + 1 <= n_;
    if (can_down && (!can_across || above > left)) return {.i = above, .down = true};
    return can_across ? Step{.i = left + 1} : Step{};
  }
  template <typename Equal>
  void add_row(int64_t d, const Equal& equal) {
    for (int64_t k = -d; k <= d; k += 2) {
      int64_t i = step_to(d, k).i;
      if (i != kNone)
        while (i < n_ && i - k < m_ &&
               equal(begin_i_ + static_cast<size_t>(i), begin_j_ + static_cast<size_t>(i - k)))
          ++i;
      furthest_.push_back(i);
    }
  }
  // The diagonal of the way with d differences that passed the most elements of both.
  [[nodiscard]] int64_t best_diagonal(int64_t d) const {
    int64_t best = -d;
    int64_t passed = kNone;
    for (int64_t k = -d; k <= d; k += 2) {
      const int64_t i = furthest(d, k);
      if (i == kNone || 2 * i - k <= passed) continue;
      passed = 2 * i - k;
      best = k;
    }
    return best;
  }
  void add_pairs(int64_t d, int64_t k, ShortestWay::Pairs& pairs) const {
    const auto added = static_cast<ptrdiff_t>(pairs.size());
    int64_t i = furthest(d, k);
    for (; d >= 0; --d) {
      const Step step = step_to(d, k);
      for (; i > step.i; --i)
        pairs.emplace_back(begin_i_ + static_cast<size_t>(i - 1),
                           begin_j_ + static_cast<size_t>(i - 1 - k));
      i = step.down ? i : i - 1;
      k += step.down ? 1 : -1;
    }
    std::reverse(pairs.begin() + added, pairs.end());
  }

  size_t begin_i_;
  size_t begin_j_;
  int64_t n_;
  int64_t m_;
  std::vector<int64_t> furthest_;
};

// The shortest way through sequences of n and m elements; equal(i, j) compares two. The search
// takes time and memory for the square of the differences. After `most` differences it is therefore
// given up: the way that got furthest is kept, and the search goes on from its end, now in pieces
// of at most `most_in_pieces` differences. At most 4 * most² bytes for the search.
template <typename Equal>
ShortestWay find_shortest_way(size_t n, size_t m, const Equal& equal, size_t most = 1000,
                              size_t most_in_pieces = 250) {
  ShortestWay way;
  size_t i = 0;
  size_t j = 0;
  for (size_t limit = most; i < n || j < m; limit = most_in_pieces) {
    if (i == n || j == m) break;  // nothing can be paired any more
    FurthestWays(i, j, n, m).extend(limit, equal, way.pairs, i, j);
    if (i < n || j < m) way.shortest = false;
  }
  return way;
}

}  // namespace telltale
