#pragma once

#include <cstdint>
#include <string>

#include "formats/mono/versions.h"

namespace telltale::mono {

// The information in an event's first byte besides its kind: "created, with a backtrace", "leave";
// empty if there is none. docs/formats/mono.md, "Events". Also empty for a byte that begins no
// event of the version.
std::string event_variant(uint8_t first_byte, const Layout& layout);

}  // namespace telltale::mono
