// How often is 7 among the numbers from 1 to n?
int count(int n) {
  int found = 0;
  for (; n > 0; --n) {
    if (n == 7) ++found;
  }
  return found;
}
