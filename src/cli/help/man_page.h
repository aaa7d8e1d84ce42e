#pragma once

#include <string>
#include <string_view>

#include "cli/help/command_words.h"

namespace telltale::cli {

// A manual page in roff with the man(7) macros, as groff_man(7) describes them. `all` is telltale
// itself; `verb` is one of its verbs, or `all` again for telltale(1).
std::string man_page(const VerbWords& all, const VerbWords& verb);

// "telltale" or "telltale-VERB": the page's name, without its section.
std::string man_page_name(const VerbWords& verb);

// Escapes `text` so that roff prints it literally, in the middle or at the start of a line.
std::string roff(std::string_view text);

}  // namespace telltale::cli
