#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "import/open_options.h"
#include "import/recording.h"

namespace telltale {

// The frames and variables that a debugger printed (import/csi/debugger_text.h), as a recording
// with paths in stack frames; `-` is standard input. `options.programs` are programs with path
// tracing, or texts of their metadata. Errors: io; usage if no program is given.
Result<std::unique_ptr<const Recording>> open_debugger_text(const std::string& path,
                                                            const OpenOptions& options);

}  // namespace telltale
