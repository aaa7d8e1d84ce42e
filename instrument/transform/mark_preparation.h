// What happens to marks and sites before functions are cloned.
#pragma once

#include <llvm/IR/Module.h>

#include <array>

#include "translation_unit.h"

namespace telltale::instrument {

// Erases the marks of functions without a function-start mark. Such code is not instrumented; a
// default argument's marks are in it where it calls a function without the argument.
void erase_stray_marks(llvm::Module& module, const TranslationUnit& unit);

// Numbers the sites whose marks reached the IR, in the order of the source. Returns the number of
// rows of each scheme.
std::array<unsigned, kSchemeCount> assign_rows(const llvm::Module& module, TranslationUnit& unit);

// -fsampler-scales: sets the weight of each site. The most specific line of the file applies; of
// equal ones, the last.
void apply_weights(TranslationUnit& unit);

// A global variable that is only compared with need not exist: a header may declare what no library
// defines. Gives it weak linkage. Not to one whose address is a mark's value: the program uses it.
void weaken_globals_of_marks(llvm::Module& module, const TranslationUnit& unit);

// Functions with marks write memory, whatever their attributes (`pure`, `const`) say: without this,
// LLVM removes calls whose results it knows, and their executions are not counted.
void drop_promises_about_memory(llvm::Module& module, const TranslationUnit& unit);

// fun-reentries: counts in a variable how many calls of each function are active, and passes the
// number to the function's mark.
void insert_reentry_counters(llvm::Module& module, const TranslationUnit& unit);

// Lowers marks without sites: function starts are erased, reset points become calls of the runtime.
void lower_marks_without_sites(llvm::Module& module, const TranslationUnit& unit);

// Erases the declarations of `__telltale_mark_N`, when all marks are lowered.
void erase_mark_declarations(llvm::Module& module);

}  // namespace telltale::instrument
