#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/Twine.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <optional>
#include <vector>

namespace telltale::instrument {

// Does the call's inline assembly define a label? Then a copy of it would define the label again,
// which is an error, unless the label is a number.
bool defines_label(const llvm::CallBase& call);

// The tables in which a function keeps the addresses of its labels, and which nothing changes;
// nothing if anything else may hold such an address.
std::optional<std::vector<llvm::GlobalVariable*>> label_tables(llvm::Function& function);

// Makes tables for a copy of the function, before it is cloned, and maps the tables to them.
void copy_tables(llvm::ArrayRef<llvm::GlobalVariable*> tables, const llvm::Twine& suffix,
                 llvm::ValueToValueMapTy& clones);

// Fills them, after the function was cloned: `clones` maps the addresses of its labels.
void fill_copied_tables(llvm::ArrayRef<llvm::GlobalVariable*> tables,
                        llvm::ValueToValueMapTy& clones);

}  // namespace telltale::instrument
