// Crashes below functions whose frames are aligned to 64 bytes, have a size that is not known
// before they run, or both.
#include <stdlib.h>
#include <string.h>

struct __attribute__((aligned(64))) Row {
  char text[128];
};

__attribute__((noinline)) static void fail(int turns) {
  for (int i = 0;; ++i) {
    if (i == turns) *(volatile int*)0 = i;
  }
}

__attribute__((noinline)) static int aligned(struct Row* from, int turns) {
  struct Row row;
  memcpy(&row, from, sizeof(row));
  for (int i = 0; i < turns; ++i) {
    row.text[i] += i % 3 == 0 ? 2 : 1;
    if (i == 4) fail(row.text[i]);
  }
  memcpy(from, &row, sizeof(row));
  return row.text[0];
}

__attribute__((noinline)) static int variable(struct Row* from, int turns) {
  char text[turns + 1];
  memset(text, 1, sizeof(text));
  int sum = 0;
  for (int i = 0; i <= turns; ++i) {
    sum += text[i];
    if (sum == 6) sum += aligned(from, turns);
  }
  return sum;
}

__attribute__((noinline)) static int both(int turns) {
  struct Row row;
  char text[turns + 1];
  memset(&row, turns, sizeof(row));
  memset(text, 1, sizeof(text));
  int sum = 0;
  for (int i = 0; i <= turns; ++i) {
    sum += text[i] + row.text[i];
    if (i == 3) sum += variable(&row, turns);
  }
  return sum;
}

int main(int argc, char** argv) {
  int sum = 0;
  for (int i = 0; i < argc + 1; ++i) sum += both(i == 0 ? 2 : 9);
  return sum + (argv == NULL);
}
