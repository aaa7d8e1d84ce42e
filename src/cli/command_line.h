#pragma once

#include <string>

#include "cli/options/command.h"

namespace telltale::cli {

// Declares every verb with its options on `app`. When `app` has parsed a command line and run its
// verb, `status` is the exit status (verbs.h).
void add_all_verbs(Command app, int& status);

// All of telltale: parses the command line and does what it says. Returns the exit status
// (verbs.h).
int run_command_line(int argc, char** argv, const std::string& version);

}  // namespace telltale::cli
