// The unit's descriptor, and the constructor and destructor that register and unregister it.
#pragma once

#include "codegen/countdowns.h"
#include "codegen/counter_tables.h"
#include "codegen/first_executions.h"

namespace telltale::instrument {

// Call once, when all counters and countdowns have been made.
void emit_registration(CounterTables& tables, Countdowns& countdowns,
                       FirstExecutions& first_executions);

}  // namespace telltale::instrument
