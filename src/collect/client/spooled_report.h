#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "bytes/cursor.h"
#include "collect/log/stored_report.h"

namespace telltale::collect {

// Reports of the spool (docs/formats/collect.md, "The spool").

// The text of a file of the spool: what the run is, its report, and how it ended. Not in it: the
// id, which is in the file's name, and what the server computes. REQUIRES: the texts of `report`
// have no line feeds.
std::string to_spooled(const StoredReport& report);

// Whether users and machines end programs by this signal: SIGINT, SIGTERM, SIGHUP, SIGQUIT,
// SIGPIPE, SIGXCPU. Such a run is skipped, because the program need not be at fault.
bool is_ending_by_wish(std::string_view signal);

// Errors: bad_field, if the file does not say what was run or how that ended, or says what
// docs/formats/collect.md does not allow. `body` is the report without these two parts. If the file
// has no label, is_ending_by_wish() makes it skipped.
Result<StoredReport> read_spooled(Bytes file, const std::string& name);

// The report without what could name its user: samples and timestamps, and backtraces with the last
// parts of paths. Other parts, and lines that are no part of a report, are left out.
std::string redacted(Bytes report);

}  // namespace telltale::collect
