// R3: every way to make a child, while the parent records. `children KIND FOLDER RECORDING...`: the
// child makes 70 events (5, if it shares the parent's memory), the parent 100 before and 10 after
// it, and the parent's RECORDING files are compared byte for byte in between. Prints "PARENT-PID
// CHANGED-FILES CHANGED-USER-FILES"; the user's files are in FOLDER.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "event.h"

extern char** environ;

namespace {

constexpr int kUserFiles = 40;

std::string contents(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string all;
  char part[4096];
  for (ssize_t bytes = 1; (bytes = read(file, part, sizeof(part))) > 0;)
    all.append(part, static_cast<size_t>(bytes));
  close(file);
  return all;
}

std::string user_file(const std::string& folder, int i) {
  return folder + "/user." + std::to_string(i);
}

// As daemons do: closes all descriptors, and its own files get their numbers.
void be_daemon(const std::string& folder) {
  syscall(SYS_close_range, 3, ~0U, 0);
  for (int i = 0; i < kUserFiles; ++i) {
    const int file = open(user_file(folder, i).c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0 || write(file, "mine", 4) != 4) _exit(3);
  }
  events(70);
  _exit(0);
}

[[noreturn]] void child(const std::string& kind, const std::string& folder) {
  if (kind == "daemon") {
    if (setsid() < 0) _exit(4);
    if (fork() == 0) be_daemon(folder);
    _exit(0);
  }
  events(70);
  _exit(0);
}

pid_t make_child(const std::string& kind, const std::string& folder) {
  char program[] = "true";
  char* const arguments[] = {program, nullptr};
  pid_t made = -1;
  if (kind == "spawn") {
    if (posix_spawn(&made, "/bin/true", nullptr, nullptr, arguments, environ) != 0) return -1;
    return made;
  }
  if (kind == "vfork") {
    made = vfork();
    if (made == 0) {
      events(5);
      execve("/bin/true", arguments, environ);
      _exit(5);
    }
    return made;
  }
  if (kind == "clone") made = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (kind == "_Fork") made = _Fork();
  if (kind == "fork" || kind == "daemon" || kind == "busy") made = fork();
  if (made == 0) child(kind, folder);
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argv[1];
  const std::string folder = argv[2];
  events(100);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::vector<std::string> before;
  for (int i = 3; i < argc; ++i) before.push_back(contents(argv[i]));
  std::atomic<bool> stop{false};
  std::atomic<long> busy_events{0};
  std::vector<std::thread> busy;
  for (int i = 0; i < 4 && kind == "busy"; ++i) {
    busy.emplace_back([&] {
      for (; !stop; ++busy_events) event();
    });
  }
  if (make_child(kind, folder) < 0) return 1;
  for (int status = 0; wait(&status) > 0;) {
    if (status != 0) return 2;
  }
  stop = true;
  for (std::thread& thread : busy) thread.join();
  int changed = 0;
  for (int i = 3; i < argc; ++i) changed += contents(argv[i]) != before[static_cast<size_t>(i - 3)];
  int changed_user_files = 0;
  for (int i = 0; i < kUserFiles && kind == "daemon"; ++i)
    changed_user_files += contents(user_file(folder, i)) != "mine";
  events(10);
  std::printf("%d %d %d %ld\n", static_cast<int>(getpid()), changed, changed_user_files,
              busy_events.load());
  return 0;
}
