#include "collect/server/sha256.h"

#include <openssl/sha.h>

#include <array>

namespace telltale::collect {

std::string sha256(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace telltale::collect
