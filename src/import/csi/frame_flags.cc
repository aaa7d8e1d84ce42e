#include "import/csi/frame_flags.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace telltale {
namespace {

constexpr std::string_view kCallFlags = "__CC_arr";
constexpr std::string_view kBlockFlags = "__BBC_arr";

// The record of the frame's function for the flags in a variable; null if several fit.
const csi::CoverageRecord* record_of_flags(const CoverageBySymbol& coverage,
                                           const StackFrame& frame, const StackVariable& flags) {
  const std::string_view mechanism = flags.name == kCallFlags ? "CC" : "BBC";
  const csi::CoverageRecord* found = nullptr;
  for (const std::string* const symbol : {&frame.symbol, &frame.linkage_name}) {
    const auto [begin, end] = coverage.equal_range(*symbol);
    for (auto at = begin; at != end; ++at) {
      const csi::CoverageRecord& record = at->second;
      if (record.mechanism != mechanism || record.probes != flags.values.size()) continue;
      // Linking leaves copies of records.
      if (found != nullptr && found->key != record.key) return nullptr;
      if (found == nullptr) found = &record;
    }
  }
  return found;
}

}  // namespace

std::vector<std::string> flag_variable_names() {
  return {std::string(kCallFlags), std::string(kBlockFlags)};
}

bool is_coverage_flags(const StackVariable& variable) {
  return variable.name == kCallFlags || variable.name == kBlockFlags;
}

const CoveredLines& FrameFlags::lines_of(const csi::CoverageRecord& record,
                                         const std::vector<int64_t>& values) {
  const auto known = known_.find({&record, values});
  if (known != known_.end()) return known->second;
  const uint64_t blocks = record.blocks.size() + 1;
  if (blocks > steps_left_ / blocks) return none_;
  steps_left_ -= blocks * blocks;
  std::vector<std::optional<bool>> flags;
  for (const int64_t value : values) {
    if (value != 0 && value != 1) return none_;
    flags.emplace_back(value == 1);
  }
  return known_
      .try_emplace({&record, values},
                   answers_of_flags(record, LinesOfRecord(record), flags, true).lines)
      .first->second;
}

const CoveredLines& FrameFlags::lines_of(const CoverageBySymbol& coverage,
                                         const StackFrame& frame) {
  const CoveredLines* lines = &none_;
  for (const StackVariable& variable : frame.variables) {
    if (!is_coverage_flags(variable) || variable.values.empty()) continue;
    const csi::CoverageRecord* const record = record_of_flags(coverage, frame, variable);
    if (record == nullptr) continue;
    const CoveredLines& more = lines_of(*record, variable.values);
    if (lines->empty()) {
      lines = &more;
      continue;
    }
    // Both mechanisms say something.
    const auto [both, is_new] = joined_.try_emplace({lines, &more}, *lines);
    for (const auto& [place, ran] : is_new ? more : none_) {
      const auto [line, is_new_line] = both->second.try_emplace(place, ran);
      if (!is_new_line) line->second = agree(line->second, ran);
    }
    lines = &both->second;
  }
  return *lines;
}

}  // namespace telltale
