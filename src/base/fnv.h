#pragma once

#include <cstdint>
#include <string_view>

namespace telltale {

// FNV-1a of 64 bits: a name for a text that is the same in every process. Not for hostile input.
constexpr uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace telltale
