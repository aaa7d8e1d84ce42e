// The record of a function's data flow: what each step of its blocks reads and writes
// (docs/formats/csi.md, "Data").
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace telltale::instrument {

// The number of a place's scope in the function's flow record.
using ScopeNumber = std::function<std::size_t(const llvm::DILocation&)>;

// The record's bytes after its key, before the function is instrumented. `blocks` as in its flow
// record.
std::string data_record_bytes(const llvm::Function& function,
                              const std::vector<const llvm::BasicBlock*>& blocks,
                              const ScopeNumber& scope_number);

}  // namespace telltale::instrument
