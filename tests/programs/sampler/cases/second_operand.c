int main(int argc, char **argv) {
  int n = 0;
  if (argv[0][0] == 'x') n = 1;

  return argv[0][0] && argc > 9 ? n : 0;
}
