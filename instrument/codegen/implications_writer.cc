#include "codegen/implications_writer.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace telltale::instrument {
namespace {

// Counters of a pair: 0 less, 1 equal, 2 greater.
enum Slot : unsigned char { kLess = 0, kEqual = 1, kGreater = 2 };

class Text {
 public:
  explicit Text(const TranslationUnit& unit) : head_(signature_hex(unit) + "\tscalar-pairs\t") {}

  // Counter `slot` of `site` implies counter `then` of `other`.
  void implies(const Site& site, Slot slot, const Site& other, Slot then) {
    text += head_ + std::to_string(site.row) + "\t" + std::to_string(slot) + "\t" + head_ +
            std::to_string(other.row) + "\t" + std::to_string(then) + "\n";
  }

  std::string text = "<implications>\n";

 private:
  std::string head_;
};

bool is_greater(const Site& like, std::int64_t one, std::int64_t other) {
  if (like.kind == ValueKind::kSigned) return one > other;
  return static_cast<std::uint64_t>(one) > static_cast<std::uint64_t>(other);
}

// The operands of a mark that are constants and have sites.
std::vector<std::size_t> constants_of(const TranslationUnit& unit, const Mark& mark) {
  std::vector<std::size_t> constants;
  for (std::size_t i = 0; i < mark.operands.size(); ++i)
    if (mark.operands[i].is_constant && unit.sites[mark.sites[i]].row >= 0) constants.push_back(i);
  return constants;
}

void write_pair(const TranslationUnit& unit, const Mark& mark, std::size_t greater_operand,
                std::size_t smaller_operand, Text& out) {
  const Site& greater = unit.sites[mark.sites[greater_operand]];
  const Site& smaller = unit.sites[mark.sites[smaller_operand]];
  out.implies(greater, kGreater, smaller, kGreater);
  out.implies(smaller, kLess, greater, kLess);
  out.implies(greater, kEqual, smaller, kGreater);
  out.implies(smaller, kEqual, greater, kLess);
}

}  // namespace

std::string write_implications(const TranslationUnit& unit) {
  // Implications are transitive. Every pair of many constants would be gigabytes of text: of these,
  // only those next to each other are written.
  constexpr std::size_t kMostPaired = 64;
  Text out(unit);
  for (const Mark& mark : unit.marks) {
    if (mark.scheme != Scheme::kScalarPairs) continue;
    std::vector<std::size_t> constants = constants_of(unit, mark);
    if (constants.empty()) continue;
    const Site& like = unit.sites[mark.sites[constants.front()]];
    const auto greater = [&](std::size_t a, std::size_t b) {
      return is_greater(like, mark.operands[a].number, mark.operands[b].number);
    };
    if (constants.size() <= kMostPaired) {
      for (const std::size_t a : constants)
        for (const std::size_t b : constants)
          if (greater(a, b)) write_pair(unit, mark, a, b, out);
      continue;
    }
    std::ranges::stable_sort(constants, greater);
    for (auto at = constants.begin(); at != constants.end(); ++at) {
      const auto next =
          std::find_if(at, constants.end(), [&](std::size_t other) { return greater(*at, other); });
      if (next != constants.end()) write_pair(unit, mark, *at, *next, out);
    }
  }
  return std::move(out.text) + "</implications>\n";
}

}  // namespace telltale::instrument
