int calls;
int work(int n) {
  calls++;
  return n;
}
