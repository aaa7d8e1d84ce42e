#pragma once

#include <cstddef>
#include <string>

#include "cli/help/command_words.h"

namespace telltale::cli {

// The output of --help in lines of at most 80 characters. Longer words and the preformatted lines
// of the footer are not broken.
std::string help_text(const VerbWords& words);

// The lines of --help for one option or argument: its names, and what it does.
std::string option_help(const OptionWords& option);

// `text` in lines of at most `width` characters: the first line continues at column `column`, the
// others are indented by `indent` spaces. Ends with a line feed.
std::string wrapped(const std::string& text, size_t column, size_t indent, size_t width);

}  // namespace telltale::cli
