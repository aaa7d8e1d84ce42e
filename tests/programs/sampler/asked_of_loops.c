/* Loops that LLVM vectorises as the pragmas ask, unless they count. */
void add(int *restrict to, const int *restrict from, int n) {
#pragma clang loop vectorize(enable)
  for (int i = 0; i < n; ++i) to[i] += from[i] & 3;
}

void set(int *restrict to, const int *restrict from, int n) {
#pragma omp simd
  for (int i = 0; i < n; ++i) to[i] = from[i] > 1 ? 3 : to[i];
}
