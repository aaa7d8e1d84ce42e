#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "import/open_options.h"

namespace telltale {

// `options.files` with each folder replaced by the recordings in it, by name: the regular files
// whose content a format recognises, and empty ones that are named like these. Subfolders, hidden
// files and side records are left out, and so are further names of a file: links such as
// latest.xray. One run of a tree of processes leaves such a folder. Errors: usage, for a folder
// without recordings; io and limit, also of a file in a folder: what cannot be read is not left
// out.
Result<std::vector<std::string>> files_of(const OpenOptions& options);

// Whether `file`, which files_of() returned, was found in a folder, not named by the user.
bool is_of_folder(const OpenOptions& options, const std::string& file);

}  // namespace telltale
