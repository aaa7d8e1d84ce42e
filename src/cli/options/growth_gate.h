#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "analysis/heap/heap_growth.h"
#include "base/error.h"

namespace telltale::cli {

// `report --gate growth=LIMIT`: the maximum growth of a type from the first heap shot to the last.
struct GrowthGate {
  double limit = 0;
  bool percent = false;  // relative to the first shot; else bytes

  // Parses "growth=10%" or "growth=100000". Errors: usage.
  static Result<GrowthGate> parse(std::string_view text);
  // Prints on standard error the types that grow steadily and by more than the limit; returns their
  // number.
  [[nodiscard]] size_t complain(std::span<const TypeGrowth> types) const;
};

}  // namespace telltale::cli
