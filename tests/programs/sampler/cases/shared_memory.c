int global;
int own;
void f(int *p) {
  *p = global;
}
int main(void) {
  int shared, own = 3;
  global = 4;
  shared = 1;
  f(&shared);
  return shared - global + own - 3;
}
