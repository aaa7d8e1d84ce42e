// A hash of texts and numbers that is the same on all machines (FNV-1a, 64 bits).
#pragma once

#include <llvm/ADT/StringRef.h>

#include <cstdint>
#include <string>

namespace telltale::instrument {

class Fnv1a {
 public:
  void add(llvm::StringRef bytes) {
    for (const char c : bytes) {
      hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    }
    hash_ = (hash_ ^ 0xFFU) * 0x100000001B3U;
  }
  void add(std::uint64_t number) { add(std::to_string(number)); }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325U;
};

}  // namespace telltale::instrument
