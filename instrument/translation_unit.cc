#include "translation_unit.h"

namespace telltale::instrument {

Unit& unit() {
  static Unit the_unit;
  return the_unit;
}

std::string signature_text(const Unit& unit) {
  std::string out;
  for (const std::uint8_t byte : unit.signature) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

}  // namespace telltale::instrument
