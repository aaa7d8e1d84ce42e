#pragma once
inline int shared(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    if (i % 3) sum += i;
  }
  return sum;
}
template <typename T>
__attribute__((noinline)) T larger(T n) {
  return n > 3 ? n : n * 2;
}
// Each unit has its own, whose blocks have other numbers.
static int of_header(int n) {
  while (n > 4) n -= 3;
  return n;
}
