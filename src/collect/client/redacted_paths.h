#pragma once

#include <string>

#include "base/error.h"
#include "bytes/cursor.h"

namespace telltale::collect {

// A path file (a core file, docs/csi-guide.md) without what names its user: the program's
// arguments, and the folders of files that are not the system's. Sizes and places stay. Stacks and
// variables stay, too: they are what the file is for. But pieces of these texts, of six or more
// characters, are removed from stacks; arguments as far as the core file has them (79 bytes).
// Errors: those of CoreFile::read.
Result<std::string> redacted_paths(Bytes core, const std::string& name);

}  // namespace telltale::collect
