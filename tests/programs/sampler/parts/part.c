int part(int a) {
  if (a > 0) return a + 1;
  return 0;
}
