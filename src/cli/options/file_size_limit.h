#pragma once

namespace telltale::cli {

// Makes a write beyond the limit of `ulimit -f` fail with EFBIG instead of killing the process with
// SIGXFSZ. The error is then reported like any other failed write, and temporary files are removed.
// Programs that telltale starts keep the signal's default action.
void fail_at_file_size_limit();

}  // namespace telltale::cli
