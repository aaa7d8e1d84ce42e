// Prints its argument, and multiples of three wrongly.
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** arguments) {
  int n = count > 1 ? atoi(arguments[1]) : 0;
  if (n % 3 == 0) n++;
  printf("%d\n", n);
  return 0;
}
