#pragma once

#include "base/error.h"
#include "bytes/cursor.h"
#include "formats/stacktrack/format_description.h"

namespace telltale::stacktrack {

// Reads RAW_FORMAT in XML, as expand_events --show_format prints it on any platform
// (docs/formats/stacktrack.md, "RAW_FORMAT"); the result is compiled. The text is not trusted:
// document types, and with them entities, are rejected, and so are texts above the size limit.
// Unknown elements and attributes are ignored. Errors: bad_field, with the line; limit; those of
// compile().
Result<FormatDescription> read_format_description(Bytes text);

}  // namespace telltale::stacktrack
