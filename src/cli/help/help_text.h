#pragma once

#include <cstddef>
#include <string>

#include "cli/help/command_words.h"

namespace telltale::cli {

// What --help prints, in lines of at most 80 characters (a longer word, or a line of the footer,
// which is laid out by hand, stays whole).
std::string help_text(const VerbWords& words);

// `text` in lines of at most `width` characters: the first begins at column `column` where
// something stands already, the others with `indent` spaces. Ends with a line feed.
std::string wrapped(const std::string& text, size_t column, size_t indent, size_t width);

}  // namespace telltale::cli
