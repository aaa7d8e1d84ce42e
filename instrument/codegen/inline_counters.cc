#include "codegen/inline_counters.h"

#include <llvm/TargetParser/Triple.h>

#include "codegen/cold_functions.h"

namespace telltale::instrument {

bool can_count_inline(const CounterTables& tables) {
  const Options& options = tables.options();
  const llvm::Triple target(tables.module().getTargetTriple());
  return target.getArch() == llvm::Triple::x86_64 && !target.isX32() && !options.timestamp_first &&
         !options.timestamp_last && !options.trace_sites;
}

void emit_inline_increment(llvm::IRBuilderBase& at, const CounterTables& tables,
                           llvm::Value* address, llvm::Value* slot) {
  llvm::CallInst* const call =
      slot != nullptr
          // Skips the prefix if no other thread has the counter.
          ? call_asm_without_aliasing(at, at.getVoidTy(),
                                      "testl ${1:k}, ${1:k}\njne 1f\nlock\n1: incq $0",
                                      "*m,r,~{dirflag},~{fpsr},~{flags}", {address, slot})
          : call_asm_without_aliasing(at, at.getVoidTy(),
                                      tables.options().threads ? "lock incq $0" : "incq $0",
                                      "*m,~{dirflag},~{fpsr},~{flags}", {address});
  call->addParamAttr(
      0, llvm::Attribute::get(at.getContext(), llvm::Attribute::ElementType, tables.i64()));
}

}  // namespace telltale::instrument
