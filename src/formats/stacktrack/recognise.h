#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "bytes/cursor.h"
#include "formats/stacktrack/format_description.h"

namespace telltale::stacktrack {

// How one stream of records is to be read.
struct StreamFormat {
  FormatDescription description;  // compiled, in the stream's byte order
  // Of the first whole record; what is before is the end of a record whose beginning is missing.
  uint64_t first_record = 0;
  bool has_prologue = false;
};

// True if the bytes are StackTrack records of a layout that telltale knows, or begin with a
// PROLOGUE of one that it does not.
bool looks_like_records(Bytes file);

// Finds layout and byte order: from the first PROLOGUE within the first 64 KiB; without one, as in
// a piece from the middle of a stream, from which layout makes sense of the first records.
// Errors: unsupported_version for a PROLOGUE of an unknown layout, bad_magic for anything else.
Result<StreamFormat> recognise(Bytes file);

// The same for a platform whose description is at hand: the bytes are its records, in the byte
// order of the first PROLOGUE, or of the description where there is none. Cannot fail.
StreamFormat recognise(Bytes file, const FormatDescription& platform);

}  // namespace telltale::stacktrack
