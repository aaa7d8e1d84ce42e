// Makes calls of event() as the lines of its standard input say, and answers each with a line, so
// that a test knows how many calls were made before and after something else happened.
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "event.h"
#include "outer_call.h"

namespace {

std::atomic<bool> spinning{false};
std::atomic<uint64_t> spun{0};
std::vector<std::thread> spinners;

QUIET void say(const std::string& line) { std::cout << line << std::endl; }

// Makes calls until the command to stop.
QUIET void spin() {
  uint64_t made = 0;
  while (spinning) {
    events(100);
    made += 100;
  }
  spun += made;
}

QUIET void block_all_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

QUIET bool obey_next();

// The child obeys until its input says leave; then the parent continues.
QUIET void obey_in_child() {
  const pid_t child = fork();
  if (child == 0) {
    say("child " + std::to_string(getpid()));
    while (obey_next()) {
    }
    exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  say("joined " + std::to_string(status));
}

QUIET bool obey_next() {
  std::string line;
  if (!std::getline(std::cin, line)) return false;
  std::istringstream words(line);
  std::string word;
  int number = 0;
  words >> word >> number;
  if (word == "calls") {
    events(number);
  } else if (word == "threads") {  // this many, each makes 1000 calls
    std::vector<std::thread> threads;
    for (int i = 0; i < number; ++i) threads.emplace_back(events, 1000);
    for (std::thread& thread : threads) thread.join();
  } else if (word == "enter") {  // what follows is inside outer(), until "leave"
    outer([] {
      say("inside");
      while (obey_next()) {
      }
    });
  } else if (word == "leave") {
    return false;
  } else if (word == "spin") {
    spinning = true;
    for (int i = 0; i < number; ++i) spinners.emplace_back(spin);
  } else if (word == "unspin") {
    spinning = false;
    for (std::thread& thread : spinners) thread.join();
    spinners.clear();
    say("spun " + std::to_string(spun));
    return true;
  } else if (word == "fork") {
    obey_in_child();
    return true;
  } else if (word == "close") {  // what daemons do
    for (int file = 3; file < 1024; ++file) close(file);
  } else if (word == "block") {
    block_all_signals();
  } else if (word == "setuid") {
    if (setgroups(0, nullptr) != 0 || setuid(static_cast<uid_t>(number)) != 0) return false;
  } else if (word == "files") {  // an open file's number, which a recorder must not take away
    const int file = dup(0);
    close(file);
    say("file " + std::to_string(file));
    return true;
  } else if (word == "alone") {  // the process ends when its last thread does
    pthread_exit(nullptr);
  } else {
    return false;
  }
  say("done");
  return true;
}

}  // namespace

int main() {
  say("ready");
  while (obey_next()) {
  }
}
