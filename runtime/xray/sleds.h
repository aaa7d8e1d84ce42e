#pragma once

// Sleds: the patchable places that clang emitted (docs/formats/xray-instrumentation-map.md), and
// how they are patched to call the recorder. Clang's own runtime is not involved, so programs need
// not export it, shared objects of any clang work, and hooks need not save vector registers. Not
// async-signal-safe.

#include <stdint.h>

#include <cstddef>

namespace telltale::recorder {

// An entry of the instrumentation map, in memory.
struct Sled {
  uint64_t address_word;
  uint64_t function_word;
  uint8_t kind;  // 0 entry, 1 exit, 2 tail exit, 3 entry with argument, 4 custom, 5 typed event
  uint8_t always;
  uint8_t version;
  uint8_t unused[13];

  // Since version 2 both words are relative to their own address.
  [[nodiscard]] uint64_t address() const {
    return version < 2 ? address_word : reinterpret_cast<uint64_t>(&address_word) + address_word;
  }
  [[nodiscard]] uint64_t function() const {
    return version < 2 ? function_word : reinterpret_cast<uint64_t>(&function_word) + function_word;
  }
};
static_assert(sizeof(Sled) == 32);

// A page of jumps to the stubs within reach of the code from `low` to `high`; null: there is no
// room for one.
std::byte* make_jump_page(uint64_t low, uint64_t high);

// The offset of each jump in a jump page.
enum class Jump : uint8_t { enter, exit, tail, argument, custom, typed, loader };
inline std::byte* jump_in(std::byte* page, Jump jump) {
  return page + 16 * static_cast<size_t>(jump);
}

// Writes a sled's code: either a call of the recorder with `function`, or the inactive form. The
// code must be writable. False: the bytes are not those of a sled, or somebody else has patched it.
bool patch_sled(const Sled& sled, uint32_t function, std::byte* page, bool on);

}  // namespace telltale::recorder
