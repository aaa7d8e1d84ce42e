#include "codegen/implications_writer.h"

#include <utility>

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

}  // namespace

std::string write_implications(const TranslationUnit& unit) {
  Text out(unit);
  for (const Mark& mark : unit.marks) {
    if (mark.scheme != Scheme::kScalarPairs) continue;
    for (std::size_t i = 0; i < mark.operands.size(); ++i) {
      const Site& greater = unit.sites[mark.sites[i]];
      if (!mark.operands[i].is_constant || greater.row < 0) continue;
      for (std::size_t j = 0; j < mark.operands.size(); ++j) {
        if (!mark.operands[j].is_constant ||
            !is_greater(greater, mark.operands[i].number, mark.operands[j].number))
          continue;
        const Site& smaller = unit.sites[mark.sites[j]];
        out.implies(greater, kGreater, smaller, kGreater);
        out.implies(smaller, kLess, greater, kLess);
        out.implies(greater, kEqual, smaller, kGreater);
        out.implies(smaller, kEqual, greater, kLess);
      }
    }
  }
  return std::move(out.text) + "</implications>\n";
}

}  // namespace telltale::instrument
