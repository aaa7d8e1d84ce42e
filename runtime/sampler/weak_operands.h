#pragma once

#include <stdint.h>

#include "abi.h"

namespace telltale::sampler {

// Is the right operand of this scalar-pairs site a variable that the program lacks?
inline bool is_operand_missing(const UnitDescriptor& unit, uint32_t scheme, uint64_t row) {
  uint32_t begin = 0;
  uint32_t end = unit.weak_operand_count;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const WeakOperand& one = unit.weak_operands[middle];
    if (one.scheme == scheme && one.row == row) return one.operand == nullptr;
    if (one.scheme < scheme || (one.scheme == scheme && one.row < row)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return false;
}

}  // namespace telltale::sampler
