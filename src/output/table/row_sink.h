#pragma once

#include <functional>
#include <span>

#include "output/table/packed_rows.h"

namespace telltale {

// Takes the rows of one table, one after the other.
class RowSink {
 public:
  RowSink() = default;
  RowSink(const RowSink&) = delete;
  RowSink& operator=(const RowSink&) = delete;
  virtual ~RowSink() = default;

  // REQUIRES: a cell for each declared column of the table's schema. The cells are valid during the
  // call.
  virtual void add(std::span<const TableCell> row) = 0;

 protected:
  RowSink(RowSink&&) = default;
  RowSink& operator=(RowSink&&) = default;
};

// Adds all rows of a table to a sink. It can be called again and then adds the same rows.
using Rows = std::function<void(RowSink&)>;

}  // namespace telltale
