#include "transform/exit_hooks.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstrTypes.h>

#include <array>
#include <vector>

namespace telltale::instrument {
namespace {

constexpr std::array<const char*, 12> kExitFunctions = {"_exit",   "_Exit",   "execl",    "execle",
                                                        "execlp",  "execv",   "execve",   "execvp",
                                                        "execvpe", "fexecve", "execveat", "daemon"};

}  // namespace

void insert_exit_hooks(llvm::Module& module) {
  for (const char* const name : kExitFunctions) {
    llvm::Function* const function = module.getFunction(name);
    if (function == nullptr || !function->isDeclaration()) continue;
    std::vector<llvm::CallBase*> calls;
    for (llvm::User* const user : function->users()) {
      auto* const call = llvm::dyn_cast<llvm::CallBase>(user);
      if (call != nullptr && call->getCalledOperand() == function) calls.push_back(call);
    }
    for (llvm::CallBase* const call : calls) {
      llvm::IRBuilder<> builder(call);
      builder.CreateCall(
          module.getOrInsertFunction("telltale_sampler_leaving_v1", builder.getVoidTy()));
    }
  }
}

}  // namespace telltale::instrument
