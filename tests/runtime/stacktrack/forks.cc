// R3: a child has a file of its own or records nothing; its parent's file is not touched;
// descriptors belong to the host.

#include <dirent.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>

#include "recorded.h"

namespace {

using recorded::fail;
using telltale::st::sink_control;

void steps(uint64_t n) {
  for (uint64_t i = 0; i < n; ++i) TELLTALE_STEP("step");
}

void wait_for(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
    fail("child ended with %d", status);
}

// The parent's file is the same, byte for byte, whatever kind of child records meanwhile.
void unchanged(const char* what, pid_t (*make_child)(), size_t child_files) {
  const recorded::Folder folder;
  recorded::open_file(folder);
  steps(100);
  const std::string mine = folder.files().at(0);
  const std::vector<char> before = recorded::read_bytes(mine);
  const pid_t child = make_child();
  if (child == 0) {
    steps(70);
    TELLTALE_VALUE("value", "a text of the child that is longer than one record");
    if (fork() == 0) {
      steps(5);  // a grandchild, if the child may fork
      _exit(0);
    }
    wait(nullptr);
    _exit(0);
  }
  wait_for(child);
  if (recorded::read_bytes(mine) != before) fail("%s: the child wrote to its parent's file", what);
  steps(10);
  sink_control::close();
  const auto files = folder.files();
  if (files.size() != 1 + child_files) fail("%s: %zu files", what, files.size());
  for (const std::string& path : files) {
    const recorded::File file = recorded::read_file(path);
    const size_t expected = path == mine ? 110 : file.pid == static_cast<uint32_t>(child) ? 71 : 5;
    if (file.hits.size() != expected || file.torn + file.unnamed + file.all_lost() != 0) {
      fail("%s: %s has %zu events of %zu", what, path.c_str(), file.hits.size(), expected);
    }
    if (path == mine && file.pid != static_cast<uint32_t>(getpid()))
      fail("%s: another process's records", what);
  }
}

pid_t raw_clone() {
  return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

void kinds() {
  unchanged("fork", fork, 2);
  unchanged("_Fork", _Fork, 1);  // only the grandchild, which was forked
  unchanged("clone", raw_clone, 1);
  const recorded::Folder folder;
  telltale::st::FileOptions options;
  options.follow_fork = false;
  recorded::open_file(folder, options);
  steps(1);
  const pid_t child = fork();
  if (child == 0) {
    steps(10);
    _exit(0);
  }
  wait_for(child);
  if (folder.files().size() != 1) fail("a child that may not has a file");
  char* const arguments[] = {const_cast<char*>("/bin/true"), nullptr};
  pid_t spawned = 0;
  if (posix_spawn(&spawned, "/bin/true", nullptr, nullptr, arguments, nullptr) != 0)
    fail("posix_spawn");
  wait_for(spawned);
  const pid_t borrowed = vfork();
  if (borrowed == 0) _exit(0);
  wait_for(borrowed);
  steps(9);
  sink_control::close();
  if (recorded::read_file(folder.files().at(0)).hits.size() != 10)
    fail("events are missing after vfork");
}

// Forks while other threads are inside events.
void storm(long forks) {
  const recorded::Folder folder;
  recorded::open_file(folder);
  const std::string mine = sink_control::path(0);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> emitted{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      uint64_t count = 0;
      for (; !stop; ++count) {
        TELLTALE_STEP("busy");
        if (count % 64 == 0) std::this_thread::yield();
        if (count == 100000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      emitted += count;
    });
  }
  for (long i = 0; i < forks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      steps(3);
      _exit(0);
    }
    wait_for(child);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  sink_control::close();
  size_t children = 0;
  for (const std::string& path : folder.files()) {
    const recorded::File file = recorded::read_file(path);
    const uint64_t expected = path == mine ? uint64_t{emitted} : 3;
    children += path == mine ? 0 : 1;
    if (file.hits.size() + file.all_lost() != expected || file.torn + file.unnamed != 0) {
      fail("%s: %zu events of %zu", path.c_str(), file.hits.size(), size_t{expected});
    }
  }
  if (children != static_cast<size_t>(forks)) fail("%zu files of %ld children", children, forks);
}

size_t open_descriptors() {
  size_t count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

// A daemon closes all descriptors and opens files of its own, which get the numbers of ours.
void descriptors() {
  const recorded::Folder folder;
  const size_t before = open_descriptors();
  recorded::open_file(folder);
  steps(1000);
  if (open_descriptors() != before) fail("the recorder keeps a descriptor");
  syscall(SYS_close_range, 3, ~0U, 0);
  std::vector<std::string> own;
  for (int i = 0; i < 20; ++i) {
    own.push_back(folder.path + "/own" + std::to_string(i));
    const int file = open(own.back().c_str(), O_RDWR | O_CREAT, 0600);
    if (write(file, "mine", 4) != 4) fail("cannot write");
  }
  steps(100'000);
  sink_control::flush();
  sink_control::close();
  for (const std::string& path : own) {
    const auto bytes = recorded::read_bytes(path);
    if (std::string(bytes.begin(), bytes.end()) != "mine") fail("%s was written to", path.c_str());
  }
  if (recorded::read_file(folder.files().at(0)).hits.size() != 101'000) fail("events are missing");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "kinds") kinds();
  if (what == "storm") storm(recorded::how_many(100, 1000));
  if (what == "descriptors") descriptors();
  std::printf("ok %s\n", what.c_str());
  return 0;
}
