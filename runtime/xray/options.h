#pragma once

#include "state.h"

namespace telltale::recorder {

// Parses TELLTALE_XRAY's text (docs/formats/xray-recorder.md, "Control"). False: `complaint`
// contains the error.
bool parse_options(const char* text, Options& options, Text<256>& complaint);
// Replaces the filters in `options` (functions, depth, min) by those in `text`, written as in
// TELLTALE_XRAY; a filter that it does not name is none. False: it has something else; `options` is
// then partly changed, and `complaint` contains the error. Not from two threads at once.
bool parse_filters(const char* text, Options& options, Text<256>& complaint);

}  // namespace telltale::recorder
