#include "program/jumps.h"

#include <cstddef>

namespace telltale {
namespace {

constexpr size_t kShort = 2;            // bytes of a jump with a distance of 8 bits
constexpr size_t kLong = 5;             // of one with 32 bits
constexpr size_t kLongConditional = 6;  // of a conditional one

// The number in the last `bytes` of the code, little-endian and signed, added to its end.
uint64_t target(std::span<const uint8_t> code, uint64_t end, size_t bytes) {
  uint64_t number = 0;
  for (size_t i = 1; i <= bytes; ++i) number = number << 8 | code[code.size() - i];
  const unsigned unused = 64 - 8 * static_cast<unsigned>(bytes);
  return end + static_cast<uint64_t>(static_cast<int64_t>(number << unused) >> unused);
}

// Jcc rel8 (70 to 7F) and rel32 (0F 80 to 0F 8F).
void add_conditional(std::span<const uint8_t> code, uint64_t end, std::vector<uint64_t>& targets) {
  const size_t size = code.size();
  if (size >= kShort && (code[size - kShort] & 0xF0) == 0x70)
    targets.push_back(target(code, end, 1));
  if (size >= kLongConditional && code[size - kLongConditional] == 0x0F &&
      (code[size - kLongConditional + 1] & 0xF0) == 0x80)
    targets.push_back(target(code, end, 4));
}

}  // namespace

std::vector<uint64_t> last_jumps(std::span<const uint8_t> code, uint64_t end) {
  std::vector<uint64_t> targets;
  const size_t size = code.size();
  add_conditional(code, end, targets);
  if (size >= kShort && code[size - kShort] == 0xEB) {
    targets.push_back(target(code, end, 1));
    add_conditional(code.first(size - kShort), end - kShort, targets);
  }
  if (size >= kLong && code[size - kLong] == 0xE9) {
    targets.push_back(target(code, end, 4));
    add_conditional(code.first(size - kLong), end - kLong, targets);
  }
  return targets;
}

}  // namespace telltale
