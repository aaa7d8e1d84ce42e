#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "analysis/heap_growth.h"
#include "base/error.h"

namespace telltale::cli {

// `report --gate growth=LIMIT`: the most that a type may win from the first heap shot to the last.
struct GrowthGate {
  double limit = 0;
  bool percent = false;  // of what it had in the first shot; else bytes

  // Of "growth=10%" or "growth=100000". Errors: usage.
  static Result<GrowthGate> parse(std::string_view text);
  // Names on standard error the types that grow steadily and won more; how many there are.
  [[nodiscard]] size_t complain(std::span<const TypeGrowth> types) const;
};

}  // namespace telltale::cli
