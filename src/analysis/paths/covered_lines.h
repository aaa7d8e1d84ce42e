#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>

#include "analysis/paths/coverage.h"
#include "base/interned_text.h"

namespace telltale {

using SourceLine = std::pair<InternedText, uint32_t>;  // file and number
using CoveredLines = std::map<SourceLine, Ran>;

struct HashSourceLine {
  size_t operator()(const SourceLine& line) const {
    constexpr size_t kFactor = 0x9E3779B97F4A7C15;  // the golden ratio, by which lines spread
    return (std::hash<const std::string*>()(&line.first.str()) + line.second) * kFactor;
  }
};
using SourceLineSet = std::unordered_set<SourceLine, HashSourceLine>;

}  // namespace telltale
