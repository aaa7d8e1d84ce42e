#pragma once

#include <string>
#include <string_view>

namespace telltale::collect {

// The 32 bytes of the SHA-256 of `text`.
std::string sha256(std::string_view text);

}  // namespace telltale::collect
