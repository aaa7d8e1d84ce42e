#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace telltale {

// Where the jumps may lead with which x86-64 code ends: a conditional jump, a jump, or one after
// the other, with relative targets. `end`: the address after `code`. Code is not decoded from its
// beginning, so that a number may look like a jump: check that a target is the beginning of a
// block.
std::vector<uint64_t> last_jumps(std::span<const uint8_t> code, uint64_t end);

}  // namespace telltale
