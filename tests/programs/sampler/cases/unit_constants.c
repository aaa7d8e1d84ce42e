int main(void) {
  int x = 32;
  x = 1900;
  if (x == 33) return 33;
  return 0;
}
