#pragma once

#include <string>

#include "model/events.h"

namespace telltale {

// What a timeline calls an event: what the program recorded, such as "miss" or "request=12830", if
// that is one short line of text; otherwise its kind, such as "typed event 7".
std::string event_title(const InstantEvent& event);

}  // namespace telltale
