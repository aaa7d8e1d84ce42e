// The text of `.debug_site_info`, and how texts become sections of the object file.
#pragma once

#include <llvm/IR/Module.h>

#include <array>
#include <string>

#include "translation_unit.h"

namespace telltale::instrument {

// One `sites` table for each scheme that is on (docs/formats/sampler.md). All sites have their rows
// and nodes; `rows` has the number of rows of each scheme.
std::string write_site_tables(const TranslationUnit& unit,
                              const std::array<unsigned, kSchemeCount>& rows);

// Adds a section without SHF_ALLOC: it is not loaded, and `strip` removes it. LLVM IR cannot
// express that, so it is module-level assembly.
void append_section(llvm::Module& module, llvm::StringRef name, llvm::StringRef text);

}  // namespace telltale::instrument
