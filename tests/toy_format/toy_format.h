#pragma once

#include "import/format_descriptor.h"

namespace telltale::toy {

// A format that telltale knows nothing of, as somebody would add it.
extern const FormatDescriptor kFormat;

}  // namespace telltale::toy
