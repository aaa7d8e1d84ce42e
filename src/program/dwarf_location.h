#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace telltale {

// What a DWARF expression needs to know of a frame. Each function returns nothing if it does not
// know.
struct LocationContext {
  std::function<std::optional<uint64_t>(unsigned number)> read_register;
  std::function<std::optional<uint64_t>(uint64_t address, size_t size)> read_memory;  // a number
  std::optional<uint64_t> canonical_frame_address;
  std::optional<uint64_t> frame_base;
  uint64_t bias = 0;  // of addresses in the program's file
};

// A part of an object.
struct LocationPiece {
  enum class Kind : uint8_t { memory, value, missing };
  Kind kind = Kind::missing;
  uint64_t number = 0;  // the address, or the value
  uint64_t bytes = 0;   // 0: the whole object
};

// Evaluates a location description (DWARF 5, sections 2.5 and 2.6) without control flow, calls and
// typed stacks, which compilers do not emit for objects in a frame. Empty if an operation is not
// known or its input is not.
std::optional<std::vector<LocationPiece>> evaluate_location(std::span<const Dwarf_Op> operations,
                                                            const LocationContext& context);

}  // namespace telltale
