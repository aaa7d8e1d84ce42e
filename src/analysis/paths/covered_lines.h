#pragma once

#include <boost/container/flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>

#include "analysis/paths/coverage.h"
#include "base/interned_text.h"
#include "base/join_maps.h"

namespace telltale {

using SourceLine = std::pair<InternedText, uint32_t>;  // file and number
using CoveredLines = boost::container::flat_map<SourceLine, Ran>;

// Adds what other copies of the code did.
inline void add_copies(CoveredLines& all, const CoveredLines& more) {
  join_maps(all, more, [](auto& line, Ran ran) { line.second = any_of(line.second, ran); });
}

struct HashSourceLine {
  size_t operator()(const SourceLine& line) const {
    constexpr size_t kFactor = 0x9E3779B97F4A7C15;  // the golden ratio, by which lines spread
    return (std::hash<const std::string*>()(&line.first.str()) + line.second) * kFactor;
  }
};
using SourceLineSet = std::unordered_set<SourceLine, HashSourceLine>;

}  // namespace telltale
