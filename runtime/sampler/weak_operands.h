#pragma once

#include <stdint.h>

#include "abi.h"

namespace telltale::sampler {

// Does the program lack a variable that sites of the unit compare with?
inline bool lacks_operands(const UnitDescriptor& unit) {
  if (unit.weak_variables == nullptr) return false;
  const WeakVariables& weak = *unit.weak_variables;
  for (uint32_t i = 0; i < weak.address_count; ++i) {
    if (weak.addresses[i] == nullptr) return true;
  }
  return false;
}

// Is the right operand of this scalar-pairs site a variable that the program lacks? Then its counts
// mean nothing.
inline bool is_operand_missing(const UnitDescriptor& unit, uint32_t scheme, uint64_t row) {
  if (unit.weak_variables == nullptr) return false;
  const WeakVariables& weak = *unit.weak_variables;
  if (scheme != weak.scheme) return false;
  // The last operands that begin at the row or before it.
  uint32_t begin = 0;
  uint32_t end = weak.operand_count;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (weak.operands[middle].row <= row) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == 0) return false;
  const WeakOperands& found = weak.operands[begin - 1];
  const uint64_t site = row - found.row;
  return site < found.sites && weak.addresses[weak.numbers[found.variables + site]] == nullptr;
}

}  // namespace telltale::sampler
