#pragma once

#include "cli/format_tools.h"

namespace telltale::cli {

// Sampler's feedback reports, site information and control flow graphs.
extern const FormatTools kSamplerTools;

}  // namespace telltale::cli
