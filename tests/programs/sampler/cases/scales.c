int two(int n) { return n; }
int main(void) {
  for (int i = 0; i < 60; i++) { two(i); }
  return 0;
}
