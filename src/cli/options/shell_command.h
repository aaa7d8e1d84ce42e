#pragma once

#include <string>
#include <vector>

namespace telltale::cli {

// The words as a command for sh, on one line.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace telltale::cli
