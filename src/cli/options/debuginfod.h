#pragma once

namespace telltale::cli {

// What the command line wants of debuginfod servers (DEBUGINFOD_URLS): each file is asked for once
// (DEBUGINFOD_RETRY_LIMIT says otherwise; libdebuginfod would ask three times, 90 seconds each),
// and if an answer takes longer than a second, a message on standard error, if that is a terminal,
// names the servers. To be called while there is one thread.
void prepare_debuginfod();

}  // namespace telltale::cli
