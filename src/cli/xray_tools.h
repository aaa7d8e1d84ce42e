#pragma once

#include "cli/format_tools.h"

namespace telltale::cli {

// XRay traces: FDR, basic and llvm-xray's YAML.
extern const FormatTools kXrayTools;

}  // namespace telltale::cli
