// Stores to an odd address, while the processor checks the alignment of addresses.
#include <stdint.h>
#include <stdio.h>

#include "../check_alignment.h"

volatile int sink;

__attribute__((noinline)) static void fill(char* bytes, int count) {
  for (int i = 0; i < count; ++i) {
    if (i & 1)
      sink = sink + 2;
    else
      sink = sink + 5;
  }
  *(volatile uint32_t*)(void*)(bytes + 1) = 7;  // crashes
}

int main(int argc, char** argv) {
  static char bytes[64];
  (void)argv;
  check_alignment();
  fill(bytes, argc + 3);
  puts("not checked");
  return 0;
}
