// Which function of the source a copy of a function is of. The Sampler and variants make copies
// with symbols of their own; path tracing writes both names into its records.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <optional>

namespace telltale::instrument {

struct SourceFunction {
  llvm::StringRef symbol;
  const llvm::DISubprogram* subprogram = nullptr;  // that of the source's function; null: unknown
};

// The function itself, if it is no copy.
SourceFunction source_of(const llvm::Function& function);

// Notes that `copy`, or code that takes its place, is of a function of the source.
void note_source(llvm::Function& copy, SourceFunction source);

// A function, or an ifunc that chooses between variants of one and has its symbol.
struct NamedFunction {
  llvm::StringRef symbol;
  SourceFunction source;
};
std::optional<NamedFunction> named_by(const llvm::Value& value);

// What the call names; nothing if it is known at run time only.
std::optional<NamedFunction> callee_of(const llvm::CallBase& call);

// The same, also for a call by an alias of the function, as C++ calls destructors.
std::optional<NamedFunction> callee_through_alias(const llvm::CallBase& call);

// Notes that the call lets another copy of the caller's function of the source run in the caller's
// place: then the caller returns.
void note_other_copy(llvm::CallInst& call);
bool runs_other_copy(const llvm::CallBase& call);

// What the names of functions begin with that choose a variant when the program is loaded. The
// notes of their sources are those of the functions that they stand for.
constexpr const char* kResolverPrefix = "telltale.resolve.";

// Whether Telltale made the function: it is not of the source.
bool is_generated(const llvm::Function& function);

// Whether the function has no place in the source: Telltale or clang made it for purposes of its
// own.
bool is_without_source(const llvm::Function& function);

// Removes the notes, which would otherwise be in the IR that the compiler prints.
void remove_source_notes(llvm::Module& module);

}  // namespace telltale::instrument
