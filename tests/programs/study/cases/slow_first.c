// Fails with each input, a second later if it begins with 'a'.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char** words) {
  if (count > 1 && getc(fopen(words[1], "r")) == 'a') sleep(1);
  abort();
}
