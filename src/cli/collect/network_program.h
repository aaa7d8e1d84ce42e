#pragma once

#include <span>

namespace telltale::cli {

// Replaces this process with telltale-collect, the program beside telltale (in libexec/telltale/)
// that has the network: TLS takes longer to load than telltale needs for most answers. `words` is a
// command line whose options have been checked, with its program's name; a null pointer follows
// them. Returns an exit status, with a message, if the program cannot be started.
int start_network_program(std::span<char* const> words);

}  // namespace telltale::cli
