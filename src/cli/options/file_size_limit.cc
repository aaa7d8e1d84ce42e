#include "cli/options/file_size_limit.h"

#include <csignal>

namespace telltale::cli {

void fail_at_file_size_limit() {
  // A handler, since exec() resets handlers but not SIG_IGN. If the caller ignores the signal, the
  // effect is the same, and that setting is kept.
  if (std::signal(SIGXFSZ, [](int) {}) == SIG_IGN) std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace telltale::cli
