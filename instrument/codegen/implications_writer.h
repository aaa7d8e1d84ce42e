// Writes implications: what one comparison with a constant says about another one of the same
// assignment (docs/formats/sampler.md).
#pragma once

#include <string>

#include "translation_unit.h"

namespace telltale::instrument {

// The text of .debug_sampler_implications. All sites have their rows.
std::string write_implications(const TranslationUnit& unit);

}  // namespace telltale::instrument
