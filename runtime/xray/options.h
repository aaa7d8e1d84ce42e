#pragma once

#include "state.h"

namespace telltale::recorder {

// Reads TELLTALE_XRAY's text (docs/formats/xray-recorder.md, "Control"). False: `complaint` says
// what is wrong with it.
bool parse_options(const char* text, Options& options, Text<256>& complaint);

}  // namespace telltale::recorder
