// Linkers that drop unused functions drop one.
int dropped(int n) {
  int sum = 0;
  while (n > 0) {
    if (n & 1) sum += n;
    n >>= 1;
  }
  return sum;
}
int main(int argc, char **argv) {
  for (; argc < 3; ++argc)
    if (argv[0] == 0) return 1;
  return argc;
}
