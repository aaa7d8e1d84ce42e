#pragma once

#include "analysis/counter_values.h"
#include "output/table.h"

namespace telltale {

// A value of a counter, as a cell of its own kind.
Table::Cell counter_cell(const CounterValues::Value& value);

}  // namespace telltale
