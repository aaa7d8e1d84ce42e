#pragma once

#include "bytes/cursor.h"

namespace telltale::sampler {

// The kind of a Sampler text, by its beginning.
enum class TextKind : uint8_t { none, report, sites, graphs };

TextKind kind_of(Bytes file);
// A feedback report, or samples without a report as extract-report prints them.
bool looks_like_report(Bytes file);
// Any of them.
bool looks_like_text(Bytes file);

}  // namespace telltale::sampler
