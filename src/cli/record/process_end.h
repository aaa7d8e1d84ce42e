#pragma once

#include <string>

#include "cli/record/child_process.h"

namespace telltale::cli {

// Writes how the child ended into the side record at `side_path`, if that is of the child's process
// (docs/formats/xray-recorder.md, "The side record"). REQUIRES: the child has ended, so that nobody
// else writes the file. A file that is none of this process's, or cannot be written, stays as it
// is.
void write_process_end(const std::string& side_path, const ChildOutcome& outcome);

}  // namespace telltale::cli
