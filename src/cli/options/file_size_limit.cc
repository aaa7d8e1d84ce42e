#include "cli/options/file_size_limit.h"

#include <csignal>

namespace telltale::cli {

void fail_at_file_size_limit() {
  // exec() resets a handler, but not SIG_IGN. The caller's SIG_IGN does the same and stays.
  if (std::signal(SIGXFSZ, [](int) {}) == SIG_IGN) std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace telltale::cli
