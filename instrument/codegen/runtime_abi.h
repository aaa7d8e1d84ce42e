// The runtime's interface (runtime/sampler/abi.inc) as LLVM types, constants and declarations.
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include "runtime/sampler/abi.h"

namespace telltale::instrument {

// The C++ types, constants and flags.
namespace abi = telltale::sampler;

// Initialisers of the interface's structures: `layout::SiteGroup{.counters = x}.constant(context)`.
// A field that is not given is zero.
namespace layout {
#define ABI_STRUCT(name) struct name {
#define ABI_FIELD(type, name) llvm::Constant* name = nullptr;
#define ABI_STRUCT_END                                        \
  llvm::Constant* constant(llvm::LLVMContext& context) const; \
  }                                                           \
  ;
#include "runtime/sampler/abi.inc"
}  // namespace layout

// Declarations of the runtime's functions and variables, made in `module` where they are missing:
// `runtime::telltale_sampler_tick(module)`. Thread-local variables are initial-exec; take their
// address by llvm.threadlocal.address.
namespace runtime {
#define ABI_VARIABLE(type, name) llvm::GlobalVariable* name(llvm::Module& module);
#define ABI_THREAD_VARIABLE(type, name) ABI_VARIABLE(type, name)
#define ABI_FUNCTION(result, name, parameters) llvm::FunctionCallee name(llvm::Module& module);
#include "runtime/sampler/abi.inc"
}  // namespace runtime

}  // namespace telltale::instrument
