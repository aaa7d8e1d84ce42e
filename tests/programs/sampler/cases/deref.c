volatile int sink;
__attribute__((noinline)) static int second(int *p) {
  sink = 1;
  sink = 2;
  return
    *p;
}
__attribute__((noinline)) static int first(int *p) {
  return *p;
}
int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) return first((int *)(long)(argc - 2)) + sink;
  return second((int *)(long)(argc - 1)) + sink;
}
