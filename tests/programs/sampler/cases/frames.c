int step(int);
int walk(int n) {
  int sum = step(n);
  while (sum > 100) sum = step(sum) + walk(n);
  return sum;
}
int once(int n) {
  int got = step(n);
  return once(got) + got;
}
