int early = 3;
int counter;
void incr(void) {
  counter = counter + 1;
}
int late = 9;
void decr(void) {
  counter = counter - 1;
}
int main(void) {
  incr();
  decr();
  return late - 9 + early - 3;
}
