// What --trace asks of the translation unit of this process; plugin.cc sets it.
#pragma once

#include "trace_options.h"

namespace telltale::instrument {

struct TracedUnit {
  TraceOptions options;
  bool is_active = false;        // the pass has still to run
  bool optimises_later = false;  // another process does, after the pass, and generates the code
};
TracedUnit& traced_unit();

}  // namespace telltale::instrument
