int other(int value);
int main(int n, char **v) {
  if (n) n = other(0);
  return n ? 1 : 0;
}
