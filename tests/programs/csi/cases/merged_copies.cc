// The code of a function that both of the Sampler's copies end with: optimisation makes it one block, which belongs to
// neither.

int state;

struct Sets {
  Sets();
};

Sets::Sets() {
  static void *label = &&here; // with a computed jump, the function is not inlined
  goto *label; // ran
here:
  state = 1; // ran
} // ran

struct NeverMade {
  NeverMade();
};

NeverMade::NeverMade() {
  static void *label = &&here;
  goto *label; // not
here:
  state = 2; // not
} // not

int main() {
  Sets sets; // ran
  if (state == 5) NeverMade never;
  if (state != 1) __builtin_abort();
  __builtin_trap();
}
