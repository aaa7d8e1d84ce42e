// -fuse-points-to: what a call through a pointer may call, where this unit alone decides it.
#pragma once

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Instructions.h>

#include <optional>

#include "translation_unit.h"

namespace telltale::instrument {

using CallTargets = llvm::SetVector<const llvm::Function*>;

// The callees of a call, direct or not; nothing if somebody else may have chosen them. A pointer is
// known if it comes from constants, from constant tables, from variables of a function or of the
// unit whose address goes nowhere, and from formals of functions that are only called, here.
// Integers that were made of pointers are not followed.
std::optional<CallTargets> find_call_targets(const llvm::CallBase& call,
                                             const TranslationUnit& unit);

}  // namespace telltale::instrument
