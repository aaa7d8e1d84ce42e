// `childrens_files WAY CHILDREN FILE...`: makes an event, forks CHILDREN, and waits for them. Each
// child makes 5 events. WAY, why it cannot create a file before: `descriptors` and `size` limit
// these, `user` becomes another user (needs root), `truncated` also empties the FILEs, which are
// the parent's recording. `none`: it can.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "event.h"

namespace {

constexpr int kOtherUser = 65534;

QUIET bool set_limit(int what) {
  const rlimit none{0, 0};
  return setrlimit(static_cast<decltype(RLIMIT_NOFILE)>(what), &none) == 0;
}

QUIET bool prevent_files(const std::string& way) {
  if (way == "user") return setgid(kOtherUser) == 0 && setuid(kOtherUser) == 0;
  return way == "none" || set_limit(way == "size" ? RLIMIT_FSIZE : RLIMIT_NOFILE);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argv[1];
  event();
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    if (fork() == 0) {
      for (int file = 3; file < argc && way == "truncated"; ++file) {
        if (truncate(argv[file], 0) != 0) _exit(2);
      }
      if (!prevent_files(way)) _exit(3);
      events(5);
      _exit(0);
    }
    int status = 0;
    if (wait(&status) < 0 || status != 0) return 1;
  }
  return 0;
}
