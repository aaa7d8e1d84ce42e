/* One unit of two files; the second is named with a dot. */
#include "./part.c"

int main(int argc, char **argv) {
  (void)argv;
  return part(argc) == 2 ? 0 : 1;
}
