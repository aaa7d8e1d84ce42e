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
  // As the specification's example shows it: flags and process id of all records but INFO are
  // hexadecimal digits filled up with zeros on their right ("0x4000" for 4), and PROCINFO has two
  // attributes "pid", which is no well-formed XML. Without it values are right, and the second one
  // is "payload_pid".
  bool as_printed = false;
  // An XML declaration and one element around all, so that the output is a document.
  bool document = false;
};

// One element a record, in file order, with all members; times of members are seconds since the
// process's start_hires (a divisor is told as itself divided by itself: 1). Skipped bytes are
// comments. Text is escaped. What was wrong is added to `problems`. Errors: the sink's.
Result<void> expand_events(Bytes file, const std::string& file_name, const StreamFormat& format,
                           const ExpandOptions& options, const ByteSink& sink,
                           ProblemLog& problems);

// RAW_FORMAT: what read_format_description() reads.
std::string raw_format_xml(const FormatDescription& description);

// A member's name as a key beside those of the header: "payload_pid" for PROCINFO's pid.
std::string member_key(const Member& member);

}  // namespace telltale::stacktrack
