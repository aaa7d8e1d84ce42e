#pragma once

#include "state.h"

namespace telltale::recorder {

// Parses TELLTALE_XRAY's text (docs/formats/xray-recorder.md, "Control"). False: `complaint`
// contains the error.
bool parse_options(const char* text, Options& options, Text<256>& complaint);

}  // namespace telltale::recorder
