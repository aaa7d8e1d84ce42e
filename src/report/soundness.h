#pragma once

#include <string>

#include "base/error.h"
#include "bytes/input_file.h"
#include "import/file_check.h"
#include "import/open_options.h"
#include "model/record_filter.h"

namespace telltale {

// Decides whether a file is sound, for `check` and for --strict of every verb: the format's
// verifier finds no violation, and reading it as a recording finds no damage and no loss. With
// `chosen` records: only the verifier's result for those. Errors: what the verifier or the reader
// says of a file that cannot be read at all.
Result<FileCheck> check_file(const InputFile& file, const OpenOptions& options,
                             RecordFilter* chosen);

// One line that says why a file is not sound. REQUIRES: !checked.valid.
std::string describe_unsound(const FileCheck& checked);

}  // namespace telltale
