#pragma once

#include <string>

#include "base/error.h"
#include "formats/sampler/wire.h"

namespace telltale::cli {

using sampler::Consent;

// Whether the user agrees to keep and send reports of an application (docs/formats/collect.md,
// "Consent"): TELLTALE_COLLECT=off says no to all, otherwise the user's file decides. Errors: io,
// if there is a file that cannot be read; it may say no.
Result<Consent> read_consent(const std::string& application);

// Asks on the terminal whether to send a report of this application to `where`, with a path file if
// `with_paths`. "always" and "never" are added to the user's file. Without a terminal the answer is
// off. Errors: io, if the file cannot be read or written.
Result<Consent> ask_consent(const std::string& application, const std::string& where,
                            bool with_paths);

// The application that a program's path stands for; empty, if it has no allowed character.
std::string application_of(const std::string& program);

// The spool: TELLTALE_COLLECT, if that is a folder, otherwise telltale/spool in $XDG_STATE_HOME or
// ~/.local/state. Errors: usage, if none of these variables is set.
Result<std::string> usual_spool();

}  // namespace telltale::cli
