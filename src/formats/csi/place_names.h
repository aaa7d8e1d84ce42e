#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/shared_text.h"

namespace telltale::csi {

// The names that records of kind kNames define (docs/formats/csi.md, "Names").
class PlaceNames {
 public:
  struct Place {
    SharedText file;
    SharedText function;  // symbol
    uint32_t line = 0;    // of its declaration; 0: unknown, or in another file
  };

  // Of several definitions of a reference, the first counts. Ignores what is not a reference.
  void add(std::string_view reference, const Place& place);
  // Returns empty names if there is no definition, and counts that.
  Place find(std::string_view reference);
  // How many times find() has found nothing.
  [[nodiscard]] uint64_t missing() const { return missing_; }

 private:
  static std::optional<uint64_t> parse(std::string_view reference);

  std::unordered_map<uint64_t, Place> known_;
  uint64_t missing_ = 0;
};

}  // namespace telltale::csi
