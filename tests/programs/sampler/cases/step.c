int count;
void step(int n) {
  if (n < 3) count++;
  if (n >= 1)
    count--;
}
