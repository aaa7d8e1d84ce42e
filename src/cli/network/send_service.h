#pragma once

#include "cli/collect/send_options.h"

namespace telltale::cli {

// Sends the reports of the options' spool. Returns an exit status.
int send_spool(SendVerbOptions options);

}  // namespace telltale::cli
