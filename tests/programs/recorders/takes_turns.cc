// Each byte of its input is one event: m of the main thread, any other of a second thread.
#include <unistd.h>

#include <thread>

#include "event.h"

QUIET void on_bytes(int input) {
  char byte = 0;
  while (read(input, &byte, 1) == 1) event();
}

int main() {
  int turns[2];
  if (pipe(turns) != 0) return 1;
  std::thread second(on_bytes, turns[0]);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) == 1) {
    if (byte == 'm') {
      event();
    } else if (write(turns[1], &byte, 1) != 1) {
      return 1;
    }
  }
  close(turns[1]);
  second.join();
}
