// Two threads, each with a known tree of calls (argument 1 times); argument 2 selects the end.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
namespace shop {
[[gnu::noinline]] int price(int n) {
  asm volatile("");
  return n * 3;
}
[[gnu::noinline]] int fib(int n) {
  if (n < 2) return n;
  const int a = fib(n - 1);
  int b = fib(n - 2);
  asm volatile("" : "+r"(b));  // neither call is the last thing done
  return a + b;
}
[[gnu::noinline]] void refuse(int n) {
  if (n % 2 == 0) throw std::runtime_error("even");
}
[[gnu::noinline]] int order(int n) {
  int sum = price(n) + fib(5);
  try {
    refuse(n);
  } catch (const std::exception&) {
    ++sum;
  }
  return sum;
}
[[gnu::noinline]] void work(int orders) {
  volatile int sum = 0;
  for (int i = 0; i < orders; ++i) sum = sum + order(i);
}
}  // namespace shop
int main(int argc, char** argv) {
  const int orders = argc > 1 ? std::atoi(argv[1]) : 10;
  const std::string end = argc > 2 ? argv[2] : "";
  std::thread one(shop::work, orders);
  std::thread two(shop::work, orders);
  one.join();
  two.join();
  if (end == "fork") {
    const pid_t child = fork();
    if (child == 0) {
      shop::work(3);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  if (end == "daemon") {
    int ends[2];
    if (pipe(ends) != 0) return 1;
    if (fork() == 0) {
      for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) close(stream);
      alarm(60);
      shop::work(3);
      if (write(ends[1], "", 1) == 1) pause();
    }
    char done = 0;
    return read(ends[0], &done, 1) == 1 ? 0 : 1;
  }
  if (end == "kill") kill(getpid(), SIGKILL);
  if (end == "term") kill(getpid(), SIGTERM);
  if (end == "abort") std::abort();
  if (end == "wait") {
    std::puts("ready");
    std::fflush(stdout);
    for (;;) pause();
  }
  if (end == "echo") {
    for (int i = 3; i < argc; ++i) std::printf("[%s]", argv[i]);
    char text[64];
    if (std::fgets(text, 64, stdin)) std::fputs(text, stdout);
  }
  return end == "seven" ? 7 : 0;
}
