// Counters and tallies of one thread (abi::kThreadSlots), with -fthreads.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "codegen/counter_tables.h"

namespace telltale::instrument {

// In bytes: no two threads write to the same cache line, or to the one that the processor fetches
// with it.
inline constexpr unsigned kThreadSlotAlignment = 128;

// The distance between two threads' counters of a scheme with so many rows, in counters; 0 if all
// threads share one copy.
unsigned thread_slot_stride(const CounterTables& tables, Scheme scheme, unsigned rows);

// Do threads have tallies of their own (PairTallies)? If pairs are sampled they have nothing else,
// because copies of all counters would take much room, and tallies are seldom added up.
bool has_thread_tallies(const CounterTables& tables, Scheme scheme);

// Do threads have counters of their own?
bool has_thread_slots(CounterTables& tables, Scheme scheme);

// The thread's number, an i64; 0 if it shares its counters.
llvm::Value* emit_thread_slot(llvm::IRBuilderBase& at, const CounterTables& tables);

// `address` is in the first copy of the scheme's counters; returns the same place in the copy of
// thread `slot`.
llvm::Value* emit_in_thread_slot(llvm::IRBuilderBase& at, CounterTables& tables, Scheme scheme,
                                 llvm::Value* address, llvm::Value* slot);

}  // namespace telltale::instrument
