static int last(const int *list, int count) {
  if (count > 3)
    return *list;
  return count;
}
__attribute__((noinline)) int sum(const int *list, int turns) {
  int total = 0;
  for (int i = 0; i < turns; ++i)
    total += last(list, i);
  return total;
}
int main(int argc, char **argv) { return argv[argc] == 0 ? sum(0, argc + 9) : 0; }
