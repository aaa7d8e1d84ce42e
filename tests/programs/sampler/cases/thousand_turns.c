int main(int argc, char **argv) {
  (void)argv;
  for (int i = 0; i < 1000; i++)
    if (i % 3 == argc) argc++;
  return 0;
}
