inline int count(int n) {
  int found = 0;
  while (n > 0) {
    found += n & 1;
    n >>= 1;
  }
  return found;
}
inline bool same(int a, int b) {
  if (a == b) return true;
  return a % 7 == b % 7;
}
