// Calls a function for each byte of its input, until that ends.
#include <unistd.h>

unsigned sum = 0;

__attribute__((noinline)) void on_byte(char byte) { sum += static_cast<unsigned char>(byte); }

int main() {
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) == 1) on_byte(byte);
  return sum == 0 ? 0 : 1;
}
