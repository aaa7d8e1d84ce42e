#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/block_writer.h"
#include "bytes/cursor.h"
#include "formats/stacktrack/format_description.h"
#include "formats/stacktrack/recognise.h"

namespace telltale::stacktrack {

// What the specification's expand_events prints.

struct ExpandOptions {
  // As in the specification's example: flags and process id of all records but INFO are hexadecimal
  // digits padded with zeros on the right ("0x4000" for 4), and PROCINFO has two attributes "pid",
  // which is not well-formed XML. Otherwise values are correct, and the second attribute is
  // "payload_pid".
  bool as_printed = false;
  // Adds an XML declaration and an outermost element, so that the output is a document.
  bool document = false;
};

// One element per record, in file order, with all members; times are seconds since the process's
// start_hires (a divisor divided by itself: 1). Skipped bytes are comments. Text is escaped. Adds
// damage to `problems`. Errors: the sink's.
Result<void> expand_events(Bytes file, const std::string& file_name, const StreamFormat& format,
                           const ExpandOptions& options, const ByteSink& sink,
                           ProblemLog& problems);

// RAW_FORMAT, the input of read_format_description().
std::string raw_format_xml(const FormatDescription& description);

// A member's key, distinct from those of the header: "payload_pid" for PROCINFO's pid.
std::string member_key(const Member& member);

}  // namespace telltale::stacktrack
