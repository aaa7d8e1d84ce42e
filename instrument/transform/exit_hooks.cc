#include "transform/exit_hooks.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstrTypes.h>

#include <array>
#include <vector>

#include "codegen/runtime_abi.h"

namespace telltale::instrument {
namespace {

struct ExitFunction {
  const char* name;
  // The runtime's function that gets its argument, the exit status; null: it has none.
  llvm::FunctionCallee (*hook)(llvm::Module&);
};

constexpr std::array<ExitFunction, 13> kExitFunctions = {{
    {"_exit", runtime::telltale_sampler_ending_v1},
    {"_Exit", runtime::telltale_sampler_ending_v1},
    {"quick_exit", runtime::telltale_sampler_quick_exit_v1},
    {"execl", nullptr},
    {"execle", nullptr},
    {"execlp", nullptr},
    {"execv", nullptr},
    {"execve", nullptr},
    {"execvp", nullptr},
    {"execvpe", nullptr},
    {"fexecve", nullptr},
    {"execveat", nullptr},
    {"daemon", nullptr},
}};

void insert_hook(llvm::CallBase& call, const ExitFunction& function) {
  llvm::Module& module = *call.getModule();
  llvm::IRBuilder<> builder(&call);
  // C programs may declare the function without parameters.
  llvm::Value* const status = call.arg_empty() ? nullptr : call.getArgOperand(0);
  if (function.hook == nullptr || status == nullptr || !status->getType()->isIntegerTy()) {
    builder.CreateCall(runtime::telltale_sampler_leaving_v1(module));
    return;
  }
  llvm::FunctionCallee hook = function.hook(module);
  llvm::Type* const type = hook.getFunctionType()->getParamType(0);
  builder.CreateCall(hook, builder.CreateIntCast(status, type, true));
}

}  // namespace

void insert_exit_hooks(llvm::Module& module) {
  for (const ExitFunction& exit_function : kExitFunctions) {
    llvm::Function* const function = module.getFunction(exit_function.name);
    if (function == nullptr || !function->isDeclaration()) continue;
    std::vector<llvm::CallBase*> calls;
    for (llvm::User* const user : function->users()) {
      auto* const call = llvm::dyn_cast<llvm::CallBase>(user);
      if (call != nullptr && call->getCalledOperand() == function) calls.push_back(call);
    }
    for (llvm::CallBase* const call : calls) insert_hook(*call, exit_function);
  }
}

}  // namespace telltale::instrument
