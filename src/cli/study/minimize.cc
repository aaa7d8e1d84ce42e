#include "cli/study/minimize.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace telltale::cli {

Result<Minimized> minimize(std::string input, const StillFails& still_fails, uint64_t most_tries) {
  Minimized found{std::move(input), 0, false};
  size_t chunk = std::bit_floor(std::max<size_t>(found.input.size(), 2) - 1);
  while (true) {
    bool removed = false;
    for (size_t at = 0; at < found.input.size();) {
      if (found.tried == most_tries) return found;
      std::string smaller = found.input;
      smaller.erase(at, chunk);
      ++found.tried;
      const Result<bool> fails = still_fails(smaller);
      if (!fails) return std::unexpected(fails.error());
      if (*fails) {
        found.input = std::move(smaller);
        removed = true;
      } else {
        at += chunk;
      }
    }
    // A byte that was needed may be superfluous after others went.
    if (chunk == 1 && !removed) break;
    if (chunk > 1) chunk /= 2;
  }
  found.complete = true;
  return found;
}

}  // namespace telltale::cli
