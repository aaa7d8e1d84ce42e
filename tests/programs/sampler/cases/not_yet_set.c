int main(int argc, char **argv) {
  int chr;
  char *at;
  if (argc > 5) chr = 1;
  chr = 7;
  at = 0;
  at = argv[0];
  chr = 9;
  return chr - 9;
}
