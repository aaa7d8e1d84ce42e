#pragma once

#include "analysis/counter_values.h"
#include "output/table.h"

namespace telltale {

// The value of a counter as a typed cell.
Table::Cell counter_cell(const CounterValues::Value& value);

}  // namespace telltale
