/* Writes a byte, waits for one, and then branches often. */
#include <unistd.h>

static int is_large(int n) { return n % 7 > 3; }

int main(void) {
  char byte = 's';
  int large = 0;
  if (write(STDOUT_FILENO, &byte, 1) != 1 || read(STDIN_FILENO, &byte, 1) != 1) return 1;
  for (int i = 0; i < 12000; i++) {
    if (is_large(i)) large++;
    if (i % 11 == 0) large += 2;
  }
  return large < 12000 ? 0 : 1;
}
