struct S {
  int v[4];
  int* q;
};
int counter;
int sum(int* p, int n, S* s) {
  int t = 0, k = 0;
  for (int i = 0; i < n; i++) t += p[i];
  if (p[1] > 3) t = p[2];
  p[2] += 4;
  p[n]++;
  --p[k];
  k = p[1]++ + (p[2] -= 3);
  s->q[k] |= p[0];
  counter += p[3];
  *(p + 2) = 3;
  p += 2;
  p++;
  while (p[0]-- > 1) t ^= p[1] ? p[2] : p[3];
  return t + (p[1] && p[2] ? s->q[1]++ : 0);
}
static inline int more(int* p) {
  int t = p[0];
  t += p[1];
  return t;
}
template <class T>
T any(T* p) {
  T t = p[0];
  t += p[1];
  return t;
}
int main() {
  int a[9] = {1, 2, 3};
  S s = {};
  s.q = a;
  return sum(a, 3, &s) + more(a) + any(a);
}
