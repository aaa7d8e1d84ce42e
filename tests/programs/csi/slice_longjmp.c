/* look() leaves no pointer, and by longjmp; use() then follows what main() has kept. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf place;
static int one = 1;
static int* found;

__attribute__((noinline)) static void look(int number) {
  found = number > 3 ? &one : NULL; /* in the slice */
  if (number < 3) longjmp(place, 1);
}

__attribute__((noinline)) static int use(int* value) { return *value; /* in the slice */ }

int main(int argc, char** argv) {
  int* volatile mine = &argc;
  int other = 3; /* unrelated */
  if (setjmp(place) == 0) {
    look(argc);                        /* in the slice */
    printf("%d %s\n", other, argv[0]); /* unrelated */
  } else {
    mine = found; /* in the slice */
  }
  return use(mine); /* in the slice */
}
