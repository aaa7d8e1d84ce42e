#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "bytes/cursor.h"
#include "formats/stacktrack/format_description.h"

namespace telltale::stacktrack {

// How to read one stream of records.
struct StreamFormat {
  FormatDescription description;  // compiled, in the stream's byte order
  // The offset of the first whole record; the bytes before it are the end of a partial record.
  uint64_t first_record = 0;
  bool has_prologue = false;
};

// True if the bytes are StackTrack records of a known layout, or begin with a PROLOGUE of an
// unknown one.
bool looks_like_records(Bytes file);

// Determines layout and byte order: from the first PROLOGUE within the first 64 KiB, or, without
// one, as in a piece from the middle of a stream, from the layout that fits the first records.
// Errors: unsupported_version for a PROLOGUE of an unknown layout, bad_magic for anything else.
Result<StreamFormat> recognise(Bytes file);

// The same for a platform with a given description: the bytes are its records, in the byte order of
// the first PROLOGUE, or of the description if there is none. Cannot fail.
StreamFormat recognise(Bytes file, const FormatDescription& platform);

}  // namespace telltale::stacktrack
