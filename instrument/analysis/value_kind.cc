#include "analysis/value_kind.h"

#include <clang/AST/ASTContext.h>

namespace telltale::instrument {

ValueKind value_kind(clang::QualType type, const clang::ASTContext& context) {
  type = type.getCanonicalType();
  if (type->isPointerType()) return ValueKind::kPointer;
  if (type->isRealFloatingType()) return ValueKind::kFloat;
  if (!type->isIntegralOrEnumerationType() || type->isBitIntType()) return ValueKind::kNone;
  if (type->isDependentType() || context.getTypeSize(type) > 64) return ValueKind::kNone;
  return type->isSignedIntegerOrEnumerationType() ? ValueKind::kSigned : ValueKind::kUnsigned;
}

}  // namespace telltale::instrument
