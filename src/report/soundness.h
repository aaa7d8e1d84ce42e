#pragma once

#include <string>

#include "base/error.h"
#include "bytes/input_file.h"
#include "import/file_check.h"
#include "import/open_options.h"
#include "model/record_filter.h"

namespace telltale {

// The one judgement of whether a file is sound, for `check` and for every verb's --strict: it is
// valid if its format's verifier finds no violation and reading it as a recording finds no damage
// and no loss. With `chosen` records: only what the verifier says of those.
// Errors: what the verifier or the reader says of a file that cannot be read at all.
Result<FileCheck> check_file(const InputFile& file, const OpenOptions& options,
                             RecordFilter* chosen);

// Why a file is not sound, in one line. REQUIRES: !checked.valid.
std::string describe_unsound(const FileCheck& checked);

}  // namespace telltale
