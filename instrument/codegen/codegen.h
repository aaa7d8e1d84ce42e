// All emitters of a unit's counting code, for the transformations.
#pragma once

#include "codegen/cold_observers.h"
#include "codegen/countdowns.h"
#include "codegen/counter_tables.h"
#include "codegen/first_executions.h"
#include "codegen/observation_emitter.h"
#include "codegen/operand_passing.h"

namespace telltale::instrument {

struct Codegen {
  // `rows` has the number of sites of each scheme.
  Codegen(llvm::Module& module, const TranslationUnit& unit,
          const std::array<unsigned, kSchemeCount>& rows)
      : tables(module, unit, rows),
        operands(tables),
        observations(tables, operands),
        cold_observers(tables, operands, observations),
        countdowns(tables),
        first_executions(tables) {}
  Codegen(const Codegen&) = delete;
  Codegen& operator=(const Codegen&) = delete;

  CounterTables tables;
  OperandPassing operands;
  ObservationEmitter observations;
  ColdObservers cold_observers;
  Countdowns countdowns;
  FirstExecutions first_executions;
};

}  // namespace telltale::instrument
