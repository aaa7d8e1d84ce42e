extern int elsewhere;
extern int look(int *, double, int);
static int hidden = 3, taken;
int counter;
int *where = &taken;
double weight;
struct pair { int left, right; double far; } both;
static int twice(int n) { static int calls = 7; calls++; return n + n; }
int main(int argc, char **argv) {
  int x = 5, y, list[2] = {1};
  struct pair one = {4, x}, two;
  y = look(&x, 1.5, counter = x);
  two = one;
  two.right = twice(y) + 1;
  if (argc > 1 && !(x == y)) y++;
  while (x--) { if (!y) break; }
  for (int x = 0; x < argc; x++) list[x] = y += elsewhere;
  where = argc ? 0 : &x;
  __asm__("" : "+r"(y), "=r"(x) : : "memory");
  __asm__("" : "+r"(y));
  weight = (unsigned char)y;
  return hidden;
}
