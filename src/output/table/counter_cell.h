#pragma once

#include "analysis/runtime/counter_values.h"
#include "output/table/table.h"

namespace telltale {

// The value of a counter as a typed cell.
Table::Cell counter_cell(const CounterValues::Value& value);

}  // namespace telltale
