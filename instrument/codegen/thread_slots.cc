#include "codegen/thread_slots.h"

#include "codegen/inline_counters.h"
#include "codegen/runtime_abi.h"

namespace telltale::instrument {

unsigned thread_slot_stride(const CounterTables& tables, Scheme scheme, unsigned rows) {
  const Options& options = tables.options();
  if (!options.threads || options.sample || !can_count_inline(tables)) return 0;
  if (scheme != Scheme::kScalarPairs && !only_counts(scheme)) return 0;
  constexpr unsigned kCounters = kThreadSlotAlignment / sizeof(std::uint64_t);
  return (rows * scheme_arity(scheme) + kCounters - 1) / kCounters * kCounters;
}

bool has_thread_tallies(const CounterTables& tables, Scheme scheme) {
  const Options& options = tables.options();
  return options.threads && scheme == Scheme::kScalarPairs && can_count_inline(tables) &&
         (!options.sample || options.uses_region_sampling());
}

bool has_thread_slots(CounterTables& tables, Scheme scheme) {
  return tables.of(scheme).copy_stride != 0;
}

llvm::Value* emit_thread_slot(llvm::IRBuilderBase& at, const CounterTables& tables) {
  return at.CreateLoad(
      tables.i64(), at.CreateThreadLocalAddress(runtime::telltale_sampler_slot_r(tables.module())));
}

llvm::Value* emit_in_thread_slot(llvm::IRBuilderBase& at, CounterTables& tables, Scheme scheme,
                                 llvm::Value* address, llvm::Value* slot) {
  return at.CreateInBoundsGEP(
      tables.i64(), address,
      {at.CreateMul(slot, llvm::ConstantInt::get(tables.i64(), tables.of(scheme).copy_stride))});
}

}  // namespace telltale::instrument
