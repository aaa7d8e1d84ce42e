#pragma once

namespace telltale::cli {

// Makes a write beyond the limit of `ulimit -f` fail with EFBIG instead of ending the process with
// SIGXFSZ: it is told like a full disk, and no temporary file stays. Programs that telltale starts
// have the signal's default action.
void fail_at_file_size_limit();

}  // namespace telltale::cli
