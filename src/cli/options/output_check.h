#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace telltale::cli {

// Errors: usage, if the output is one of the inputs, under whatever name: it would be overwritten.
Result<void> check_output(const std::string& output, const std::vector<std::string>& inputs);

}  // namespace telltale::cli
