#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/error.h"

namespace telltale {

// An io error if the user may not look into the folder: nobody can then say what it contains.
inline Result<void> check_folder_access(const std::string& folder) {
  if (::access(folder.c_str(), X_OK) == 0 || errno != EACCES) return {};
  return io_error(folder, "cannot be read", EACCES);
}

}  // namespace telltale
