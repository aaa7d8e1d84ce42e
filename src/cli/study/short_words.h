#pragma once

#include <string>

#include "import/predicate_set.h"

namespace telltale::cli {

// What people read of a predicate: functions have their short names (docs/analysis/names.md).
struct ShortWords {
  std::string text;
  std::string function;
};
ShortWords short_words(const PredicateWords& words);

}  // namespace telltale::cli
