#pragma once

#include <string>

#include "cli/options/command.h"

namespace telltale::cli {

// How a verb uses the terminal (docs/terminal.md).
struct TerminalOptions {
  std::string colour = "auto";
  bool no_pager = false;
};

// --color and --no-pager.
void add_terminal_options(Command verb, TerminalOptions& options);

// Call once, before anything is written. If standard output is a terminal: sets the screen of texts
// to its width, with colours unless NO_COLOR is set, and, with `pages`, passes output longer than
// the screen to a pager. --color=always gives colours without a terminal, too.
void begin_terminal(const TerminalOptions& options, bool pages);
// Waits until the user has left the pager, if there is one. Nothing may be written afterwards.
void end_terminal();

}  // namespace telltale::cli
