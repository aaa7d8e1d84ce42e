#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "cli/collect/network_program.h"
#include "cli/options/command.h"
#include "import/recording.h"

namespace telltale::cli {

// Declares every verb with its options on `app`. When `app` has parsed a command line and run its
// verb, `status` is the exit status (verbs.h).
void add_all_verbs(Command app, int& status);

// Errors: usage, if the recording has none of the capabilities that the verb uses; the message
// names those it has and the verbs that use them.
Result<void> check_use(std::string_view verb, const Recording& recording);

// Runs a verb that uses the network: the words of a command line that was checked, which a null
// pointer follows. Returns the exit status.
using RunNetworkVerb = int (*)(std::span<char* const> words);

// Parses the command line and runs the verb. Returns the exit status (verbs.h).
int run_command_line(int argc, char** argv, RunNetworkVerb run_network = start_network_program);

}  // namespace telltale::cli
