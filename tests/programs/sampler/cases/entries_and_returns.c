int five(void) { return 5; }
int less(int n) { return -n; }
int main(void) {
  int x = five();
  return five() + less(x) + x - 5;
}
