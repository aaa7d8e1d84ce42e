#pragma once

#include <string>
#include <string_view>

#include "cli/help/command_words.h"

namespace telltale::cli {

// A script that completes telltale's verbs, options and values in a shell: "bash", "zsh" or "fish".
// `all` are the words of telltale itself. The shell completes file names.
std::string completion_script(std::string_view shell, const VerbWords& all);

}  // namespace telltale::cli
