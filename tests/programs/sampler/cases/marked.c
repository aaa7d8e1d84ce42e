int main(int argc, char **argv) {
  int i;
  if (argv[0][0]) argc++;
  for (i = 0; i < 2; i++) argc--;
  return 0;
}
