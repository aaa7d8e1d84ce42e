// C before C23, without the headers' declarations.
void _exit();
void _Exit(char);
long quick_exit(long);
int main(int argc, char **argv) {
  if (argv[1][0] == 'a') _exit(7L);
  if (argv[1][0] == 'b') _Exit(200);
  if (argv[1][0] == 'c') quick_exit(9L);
  return 0;
}
