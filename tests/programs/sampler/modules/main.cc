import shapes;

int main() {
  int sum = 0;
  for (int i = 0; i < 10; ++i) {
    if (i % 2) sum += area(i);
    sum = larger(sum, i);
    sum += twice(i);
  }
  return sum == 130 ? 0 : 1;
}
