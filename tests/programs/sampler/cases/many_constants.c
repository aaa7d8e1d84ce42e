// One assignment, compared with a hundred constants.
static int is_one_of(int number, int other) { return number == other; }

#define TEN(d)                                                                              \
  (is_one_of(number, d##0) + is_one_of(number, d##1) + is_one_of(number, d##2) +           \
   is_one_of(number, d##3) + is_one_of(number, d##4) + is_one_of(number, d##5) +           \
   is_one_of(number, d##6) + is_one_of(number, d##7) + is_one_of(number, d##8) +           \
   is_one_of(number, d##9))

int main(int argc, char **argv) {
  int number;
  (void)argv;
  number = argc;
  return TEN(1) + TEN(2) + TEN(3) + TEN(4) + TEN(5) + TEN(6) + TEN(7) + TEN(8) + TEN(9) + TEN(10);
}
