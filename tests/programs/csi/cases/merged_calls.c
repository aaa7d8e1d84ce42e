/* Optimisers would merge both calls into one, which has no line. */
#include <stdlib.h>
void die(void* memory);
__attribute__((noinline)) int find(int* list, int count) {
  int sum = 0;
  for (int i = 0; i < count; i++)
    if (list[i] > 3) sum += list[i];
  if (sum > 5) {
    die(list);  // sum
    return 1;
  }
  if (count == 2) {
    die(list);
    return 1;
  }
  return sum;
}
__attribute__((noinline)) void die(void* memory) {
  if (memory) abort();
}
int main(int argc, char** argv) {
  int list[4] = {1, 2, 4, argv[0] != 0 ? 4 : 0};
  return find(list, argc > 1 ? 4 : 2) + 1;
}
