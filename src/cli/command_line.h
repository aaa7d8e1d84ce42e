#pragma once

#include <string>

namespace telltale::cli {

// All of telltale: parses the command line and does what it says. Returns the exit status
// (verbs.h).
int run_command_line(int argc, char** argv, const std::string& version);

}  // namespace telltale::cli
