#pragma once

#include "cli/format_tools.h"

namespace telltale::cli {

// Mono log-profiler recordings.
extern const FormatTools kMonoTools;

}  // namespace telltale::cli
