#include <stdio.h>
int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }
int main(int argc, char** argv) {
  if (argc > 1) fclose(fopen(argv[1], "w"));
  return work(5) != 5;
}
