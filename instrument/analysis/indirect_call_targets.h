// -fuse-points-to: the targets of indirect calls, as far as this unit determines them.
#pragma once

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Instructions.h>

#include <optional>

#include "translation_unit.h"

namespace telltale::instrument {

using CallTargets = llvm::SetVector<const llvm::Function*>;

// The possible targets of a call, direct or indirect; nothing if code outside the unit may
// determine them. The analysis follows constants, constant tables, variables whose address does not
// escape, and parameters of internal functions that are only called. It does not follow integers
// that are made of pointers.
std::optional<CallTargets> find_call_targets(const llvm::CallBase& call,
                                             const TranslationUnit& unit);

}  // namespace telltale::instrument
