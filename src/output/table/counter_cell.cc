#include "output/table/counter_cell.h"

namespace telltale {

Table::Cell counter_cell(const CounterValues::Value& value) {
  switch (value.form) {
    case CounterEvent::Form::signed_number:
      return static_cast<int64_t>(value.number);
    case CounterEvent::Form::unsigned_number:
      return value.number;
    case CounterEvent::Form::real:
      return value.real;
    case CounterEvent::Form::text:
      return value.text;
  }
  return {};
}

}  // namespace telltale
