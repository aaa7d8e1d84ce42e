enum channel { RED, GREEN, BLUE, ALPHA };
enum channel where;
void assign(enum channel *holder, enum channel value) {
  *holder = value;
}
int main(void) {
  enum channel channel = GREEN;
  enum channel other = RED;
  assign(&other, BLUE);
  assign(&other, ALPHA);
  return channel == GREEN ? 0 : 1;
}
