int f();
int g(int n) {
  int sum = 0;
  for (int i{0}; i < n; ++i) sum += i;
  for (int j = 0; j < n; ++j) sum += j;
  if (int k{f()}; k > 3) sum += k;
  return sum;
}
