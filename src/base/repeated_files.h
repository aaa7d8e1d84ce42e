#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace telltale {

// Refuses a file or folder that is given twice, by any of its names: what it has would count twice.
// Errors: usage.
Result<void> refuse_repeated(const std::vector<std::string>& paths);

}  // namespace telltale
