// Counting without a call to the runtime.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/counter_tables.h"

namespace telltale::instrument {

// Is an observation nothing but an increment (no timestamps, no trace), on a target that
// emit_inline_increment() supports?
bool can_count_inline(const CounterTables& tables);

// Emits an increment of the counter at `address` that LLVM assumes to alias no memory of the
// program. `slot` is emit_thread_slot(), or null: then threads, if there are any, share the
// counter.
void emit_inline_increment(llvm::IRBuilderBase& at, const CounterTables& tables,
                           llvm::Value* address, llvm::Value* slot = nullptr);

}  // namespace telltale::instrument
