#include "translation_unit.h"

namespace telltale::instrument {

TranslationUnit& current_unit() {
  static TranslationUnit the_unit;
  return the_unit;
}

std::string signature_hex(const TranslationUnit& unit) {
  std::string out;
  for (const std::uint8_t byte : unit.signature) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

}  // namespace telltale::instrument
