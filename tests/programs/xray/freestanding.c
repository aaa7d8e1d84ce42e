// Needs no library: for targets whose libraries are not here.
__attribute__((noinline)) int leaf(int a) { return a * 3; }
__attribute__((xray_always_instrument, xray_log_args(1), noinline)) int logged(int a) { return a * a; }
int _start(int a) {
  int sum = 0;
  for (int i = 0; i < a; i++) sum += leaf(i) + logged(sum);
  return leaf(sum);
}
void __xray_FunctionEntry(void) {}
void __xray_FunctionExit(void) {}
