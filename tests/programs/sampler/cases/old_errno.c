// As old programs declare it; a use would not link with a C library in which it is thread-local.
extern int errno;

int main(int argc, char **argv) {
  int number = argc + 1;
  (void)argv;
  number = number * 2;
  return number == 0;
}
