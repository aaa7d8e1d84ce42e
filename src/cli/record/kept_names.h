#pragma once

#include <string>

namespace telltale::cli {

// Appends the names of the functions that a trace contains to its side record, so that the trace
// can be read when the program is gone or rebuilt (docs/formats/xray-recorder.md, "The side
// record"). They come from the recorded programs, if these have not changed since. REQUIRES: the
// recording process has ended, so that nobody else writes the file. A trace without a side record,
// one whose side record is damaged or has names, or one that cannot be written stays as it is.
void keep_names(const std::string& trace);

}  // namespace telltale::cli
