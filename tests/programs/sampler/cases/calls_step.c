void step(int);
int main(void) {
  int i;
  for (i = 0; i < 5; i++) {
    step(i);
  }
  return 0;
}
