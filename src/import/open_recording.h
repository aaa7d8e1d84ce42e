#pragma once

#include <memory>
#include <vector>

#include "base/error.h"
#include "bytes/input_file.h"
#include "import/open_options.h"
#include "import/recording.h"

namespace telltale {

// Recognises the format by content and opens the files as one recording. Errors: those of the
// readers, with the file's name; bad_magic if no format recognises a file; usage if there are no
// files or their formats differ.
Result<std::unique_ptr<const Recording>> open_recording(const OpenOptions& options);
// The same in two steps. The first returns usage without files or with the same file twice,
// io, limit.
Result<std::vector<InputFile>> open_inputs(const OpenOptions& options);
Result<std::unique_ptr<const Recording>> open_recording(std::vector<InputFile> inputs,
                                                        const OpenOptions& options);

}  // namespace telltale
