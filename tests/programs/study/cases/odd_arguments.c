// Fails if its argument is odd.
#include <stdlib.h>

int main(int count, char** words) {
  if (count > 1 && atoi(words[1]) % 2) abort();
  return 0;
}
