// Which types of values the schemes can observe.
#pragma once

#include <clang/AST/Type.h>

#include "translation_unit.h"

namespace telltale::instrument {

// Integers and enumerations of up to 64 bits, pointers, and floating types; kNone for all others.
ValueKind value_kind(clang::QualType type, const clang::ASTContext& context);

}  // namespace telltale::instrument
