int two(int n) {
  if (n) return 1;
  return 2;
}
