/* Uses low descriptors as shells do. Prints whether it could write to 3, which it has not opened, and the number of its first file. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  const char line[] = "not a report\n";
  if (write(3, line, sizeof line - 1) > 0) puts("written");
  printf("%d\n", open("/dev/null", O_RDONLY));
  return 0;
}
