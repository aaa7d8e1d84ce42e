/* A function that is small enough to be inlined wherever it is called, and crashes. It has the only branches: the
   first decision whether to observe is that of its call. */
#include <stddef.h>

int element(const int* all, int index) {
  if (index < 0)
    return -1;
  if (all)
    index += all[0];
  return all[index]; /* crashes */
}

int (*volatile chosen)(const int*, int) = element;

int main(int count, char** arguments) {
  (void)arguments;
  int result = chosen(NULL, count);
  return result + 1;
}
