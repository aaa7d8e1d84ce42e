// Where the calls are at which the functions with pieces were inlined.
#pragma once

#include <llvm/IR/DebugInfoMetadata.h>

#include <cstdint>
#include <tuple>
#include <utility>

#include "path_tracing/source_pieces.h"

namespace telltale::instrument {

// A piece in the function, or in a function that was inlined at the call.
using PieceHere = std::pair<std::uint64_t, const llvm::DILocation*>;

// The callee of a call, its place in the source, and the call at which its caller was inlined.
using CallPlace = std::tuple<const llvm::DISubprogram*, const llvm::DILocalScope*, unsigned,
                             unsigned, const llvm::DILocation*>;

inline CallPlace place_of_call(const llvm::DISubprogram* callee, const llvm::DILocation& call,
                               const llvm::DILocation* around) {
  return {callee, call.getScope(), call.getLine(), call.getColumn(), around};
}

// The calls at which the function with a piece was inlined, and those around it.
template <typename Visit>
void for_each_call_around(const PieceHere& piece, Visit visit) {
  const llvm::DISubprogram* callee = pieces()[piece.first].function;
  for (const llvm::DILocation* at = piece.second; at != nullptr; at = at->getInlinedAt()) {
    visit(place_of_call(callee, *at, at->getInlinedAt()), at);
    callee = at->getScope()->getSubprogram();
  }
}

}  // namespace telltale::instrument
