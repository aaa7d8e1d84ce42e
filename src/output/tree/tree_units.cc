#include "output/tree/tree_units.h"

#include <fmt/format.h>

#include "output/table/table.h"

namespace telltale {

std::string TreeUnits::show(double value) const {
  if (is_time()) return show_duration(value);
  return suffix == "bytes" ? show_bytes(value) : fmt::format("{:.0f}", value);
}

}  // namespace telltale
