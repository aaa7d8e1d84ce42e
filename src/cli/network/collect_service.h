#pragma once

#include <string>

#include "cli/collect/collect_options.h"

namespace telltale::cli {

// Serves until SIGTERM or SIGINT, then finishes open requests. SIGHUP reads tokens, rules and
// certificates again. `telltale` is the program that folds the log. Returns an exit status.
int serve_reports(const CollectOptions& options, const std::string& telltale);

}  // namespace telltale::cli
