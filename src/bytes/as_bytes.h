#pragma once

#include <span>
#include <string_view>

#include "bytes/cursor.h"

namespace telltale {

// A view of the characters of `text`, which must outlive it.
inline Bytes as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace telltale
