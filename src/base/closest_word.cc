#include "base/closest_word.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>
#include <vector>

namespace telltale {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + changed});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1]))
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, row);
  }
  return last[b.size()];
}

std::optional<std::string> closest_word(std::string_view typed,
                                        std::span<const std::string> words) {
  constexpr size_t kLongest = 100;  // longer ones are not compared
  if (typed.empty() || typed.size() > kLongest) return std::nullopt;
  std::optional<std::string> closest;
  size_t least = std::numeric_limits<size_t>::max();
  for (const std::string& word : words) {
    if (word.size() > kLongest) continue;
    size_t distance = edit_distance(typed, word);
    constexpr size_t kMeaningful = 2;
    if (word.starts_with(typed) && typed.size() >= kMeaningful) distance = 1;
    if (distance > std::max<size_t>(1, typed.size() / 3) || distance >= least) continue;
    least = distance;
    closest = word;
  }
  return closest;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> words) {
  const std::optional<std::string> closest = closest_word(typed, words);
  return closest ? "; did you mean " + *closest + "?" : std::string();
}

}  // namespace telltale
