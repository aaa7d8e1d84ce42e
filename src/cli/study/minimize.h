#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/error.h"

namespace telltale::cli {

// Whether a smaller input still fails in the same way. Errors end the search.
using StillFails = std::function<Result<bool>(const std::string& input)>;

struct Minimized {
  std::string input;
  uint64_t tried = 0;
  bool complete = false;  // no single byte can be removed; false: `most_tries` ended the search
};

// Removes ranges of bytes from an input that fails, large ones first, as delta debugging does
// (Zeller and Hildebrandt, IEEE Transactions on Software Engineering 28, 2002), but only
// complements are tried: the start of an input is rarely an input. Deterministic if `still_fails`
// is. Errors: those of `still_fails`.
Result<Minimized> minimize(std::string input, const StillFails& still_fails, uint64_t most_tries);

}  // namespace telltale::cli
