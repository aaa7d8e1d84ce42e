#pragma once

#include <string>

#include "import/predicate_set.h"
#include "model/name_style.h"

namespace telltale::cli {

// What people read of a predicate, with names of functions in a style (docs/analysis/names.md).
// Predicates have no linker's names: `mangled` is `full`.
struct ShownWords {
  std::string text;
  std::string function;
};
ShownWords shown_words(const PredicateWords& words, NameStyle names);

}  // namespace telltale::cli
