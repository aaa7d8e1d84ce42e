// The IR side: turns marks into counters and, where sampling is wanted, into two copies of each
// function.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>

#include <set>
#include <string>

namespace telltale::instrument {

// Adds the pass to a compilation. Added twice, it runs once.
void register_passes(llvm::PassBuilder& builder);
// What `#pragma sampler_assume_weightless("f")` named.
std::set<std::string, std::less<>>& weightless_by_pragma();

}  // namespace telltale::instrument
