static int callee(void) { return 1; }
int never(void) { return 1; }
int main(void) {
  callee();
  callee();
  callee();
  return 0;
}
