/* Assigns addresses of variables that only an archive defines. Each macro leaves out the other uses,
   which would link the archive's member. */
#include <stdio.h>

#include "archived_globals.h"

int *place;

__attribute__((noinline)) static int run(const struct Allocator* allocator, int size) {
#ifdef ALLOCATOR
  if (!allocator) allocator = &standard_allocator;
  return allocator->round_up(size);
#else
  return allocator == 0 ? size : 0;
#endif
}

int main(int argc, char** argv) {
  (void)argv;
  int result = run(0, argc);
#ifdef MEMBER
  struct Pair* pair = &box;
  result += pair->second;
#endif
#ifdef GLOBAL
  place = &shared;
  result += *place;
#endif
  printf("%d\n", result);
  return 0;
}
