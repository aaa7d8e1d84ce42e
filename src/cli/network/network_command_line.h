#pragma once

#include <span>
#include <string>

namespace telltale::cli {

// Runs `telltale collect` or `telltale send`; telltale has checked the command line, `words`.
// `telltale` is its program's path. Returns the exit status.
int run_network_command_line(std::span<char* const> words, const std::string& telltale);

}  // namespace telltale::cli
