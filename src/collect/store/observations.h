#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.h"
#include "bytes/cursor.h"

namespace telltale::collect {

// What a report observed in the sites of one unit and scheme, without knowing them.
struct SectionObservations {
  std::string unit;
  std::string scheme;
  uint32_t rows = 0;             // sites that the report has
  std::vector<int32_t> sites;    // that counted something, ascending, from 0
  std::vector<int16_t> counted;  // of each: a bit for each counter that is not 0
  std::vector<int64_t> first;    // of each: when it was first observed; 0: never. Empty: unknown
};

// Reads the samples of a report; repeated sections become one, ordered by unit and scheme. Sections
// of bounds and of unknown schemes are left out, as predicates do not use them. `problems` gets
// damage, with `name` as the file.
std::vector<SectionObservations> read_observations(Bytes report, const std::string& name,
                                                   ProblemLog& problems);

// The report's first main-backtrace, as an element; empty: it has none.
std::string read_backtrace(Bytes report);

}  // namespace telltale::collect
