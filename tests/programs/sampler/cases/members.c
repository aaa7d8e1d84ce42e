struct s { int n; unsigned b : 2; } s[2];
int g;
int main(void) {
  struct s *p = s;
  int a[2] = {1, 2};
  p->n += 5;
  p++->n--;
  a[1] *= 4;
  p->b++;
  return g++;
}
