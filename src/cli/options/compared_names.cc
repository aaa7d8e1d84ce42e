#include "cli/options/compared_names.h"

#include <fmt/format.h>

#include "import/xray/xray_side_record.h"
#include "model/waiting.h"

namespace telltale::cli {
namespace {

// "#17" or "@0x1139", as functions without a name are shown.
bool is_placeholder(std::string_view name) {
  const auto consists_of = [](std::string_view text, std::string_view characters) {
    return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
  };
  if (name.starts_with('#')) return consists_of(name.substr(1), "0123456789");
  return name.starts_with("@0x") && consists_of(name.substr(3), "0123456789abcdef");
}

}  // namespace

void ComparedNames::add(Side side, const Recording& recording) {
  for (const Problem& problem : recording.problems().kept()) {
    if (problem.kind == Problem::Kind::names) sides_[side].missing.insert(to_string(problem));
  }
  for (size_t i = 0; i < recording.file_count(); ++i) {
    if (const auto missing = missing_side_record(recording.input(i)))
      sides_[side].side_record = *missing;
  }
}

void ComparedNames::add_function(std::string_view name, bool before, bool after) {
  if (name == kWaitingName) return;
  for (const Side side : {kBefore, kAfter}) {
    if (!(side == kBefore ? before : after)) continue;
    ++sides_[side].functions;
    if (before != after && is_placeholder(name)) ++sides_[side].unnamed;
  }
}

Result<void> ComparedNames::check(bool for_gate) const {
  const bool same_cause = sides_[kBefore].missing == sides_[kAfter].missing &&
                          sides_[kBefore].side_record.empty() == sides_[kAfter].side_record.empty();
  if (same_cause) return {};
  for (const Side side : {kBefore, kAfter}) {
    const OneSide& one = sides_[side];
    if ((one.missing.empty() && one.side_record.empty()) || one.unnamed == 0) continue;
    if (!for_gate && one.unnamed <= one.functions / 2) continue;
    const std::string_view letter = side == kBefore ? "A" : "B";
    if (one.missing.empty()) {
      return usage_error(
          fmt::format("{}, which names functions, is missing, so that {} of {} "
                      "functions of {} cannot be compared",
                      one.side_record, one.unnamed, one.functions, letter));
    }
    return usage_error(fmt::format(
        "{}, so that {} of {} functions of {} cannot be compared; --program-{} names the program "
        "that was recorded",
        *one.missing.begin(), one.unnamed, one.functions, letter, side == kBefore ? "a" : "b"));
  }
  return {};
}

}  // namespace telltale::cli
