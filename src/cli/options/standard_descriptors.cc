#include "cli/options/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace telltale::cli {

void keep_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free descriptor is this one. Opened the wrong way around, it cannot be used.
    const int way = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    static_cast<void>(::open("/dev/null", way | O_CLOEXEC));
  }
}

}  // namespace telltale::cli
