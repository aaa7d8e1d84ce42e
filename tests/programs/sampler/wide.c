// 512 functions with eight branches each, of which three are called: their counters have 64 KiB,
// most of which are never touched. The numbers are octal.
#define BRANCH(n) \
  if (x > n) ++sum;
#define ONE(n)                                                                    \
  int f##n(int x) {                                                               \
    int sum = 0;                                                                  \
    BRANCH(n##0)                                                                  \
    BRANCH(n##1) BRANCH(n##2) BRANCH(n##3) BRANCH(n##4) BRANCH(n##5) BRANCH(n##6) \
        BRANCH(n##7) return sum;                                                  \
  }
#define EIGHT(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7)
#define SQUARE(n) \
  EIGHT(n##0) EIGHT(n##1) EIGHT(n##2) EIGHT(n##3) EIGHT(n##4) EIGHT(n##5) EIGHT(n##6) EIGHT(n##7)
SQUARE(00)
SQUARE(01) SQUARE(02) SQUARE(03) SQUARE(04) SQUARE(05) SQUARE(06) SQUARE(07)

    double half(double x) {
  double y = x / 2;
  return y;
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 5; ++i) sum += f0000(i) + f0377(i) + f0776(i);
  return sum != 10;
}
