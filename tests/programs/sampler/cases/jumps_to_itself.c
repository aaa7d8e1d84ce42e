// A call that must be a jump: its caller's activation ends with it.
__attribute__((noinline)) static int count_down(int number, int sum) {
  if (!number) return sum;
  __attribute__((musttail)) return count_down(number - 1, sum + 1);
}

int main(int argc, char **argv) {
  (void)argv;
  return count_down(argc + 3, 0) != argc + 3;
}
