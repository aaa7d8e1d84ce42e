#pragma once

#include <string_view>

#include "base/error.h"
#include "cli/options/command.h"
#include "import/recording.h"

namespace telltale::cli {

// Declares every verb with its options on `app`. When `app` has parsed a command line and run its
// verb, `status` is the exit status (verbs.h).
void add_all_verbs(Command app, int& status);

// Errors: usage, if the recording has none of the capabilities that the verb uses; the message
// names those it has and the verbs that use them.
Result<void> check_use(std::string_view verb, const Recording& recording);

// Parses the command line and runs the verb. Returns the exit status (verbs.h).
int run_command_line(int argc, char** argv);

}  // namespace telltale::cli
