#pragma once

#include "bytes/cursor.h"

namespace telltale::sampler {

// What a text of Sampler's is, by how it begins.
enum class TextKind : uint8_t { none, report, sites, graphs };

TextKind kind_of(Bytes file);
// A feedback report, or the samples that extract-report leaves of one.
bool looks_like_report(Bytes file);
// Any of them.
bool looks_like_text(Bytes file);

}  // namespace telltale::sampler
