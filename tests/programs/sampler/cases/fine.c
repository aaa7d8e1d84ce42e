#include <stdio.h>
int main(int argc, char **argv) {
  if (argc > 5) return 1;
  puts("fine");
  return 0;
}
