#pragma once

#include <cstdint>
#include <string>

#include "formats/mono/versions.h"

namespace telltale::mono {

// What an event's first byte says beside its kind, in words: "created, with a backtrace", "leave";
// empty if it says no more. docs/formats/mono.md, "Events". Empty too for a byte that begins no
// event of the version.
std::string event_variant(uint8_t first_byte, const Layout& layout);

}  // namespace telltale::mono
