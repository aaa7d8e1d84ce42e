/* The concurrency schemes, in C: the lines and counters are in accesses.c.expected. */
#include <pthread.h>
#include <stdlib.h>

static int shared = 1;
static __thread int own;
static const int fixed = 3;
static float ratio;
static struct {
  int x;
  unsigned bit : 3;
  int list[3];
} box;
static volatile int live;
static _Bool flag;
static const char *text;
static int (*pointer)(int *, int);

static int add(int *to, int by) {
  *to += by;
  return *to;
}

static void *other(void *argument) {
  shared = 5;
  *(int *)argument = shared;
  return argument;
}

static void windows(void) {
  int i;
  for (i = 0; i < 150; i++) live = i;
}

int main(void) {
  int local = 1, seen = 2;
  pthread_t thread;
  pointer = add;
  shared = 2;
  local = shared + box.x;
  own = local;
  ratio = 1;
  box.bit = 1;
  box.list[local & 1] = fixed;
  flag = shared > 1;
  if (flag && shared) box.x++;
  shared += pointer(&seen, 3);
  text = "abc";
  local = *text++ + (box.x ? shared-- : 0);
  --flag;
  if (sizeof shared != sizeof local || !local || !own || ratio != 1) abort();
  if (pthread_create(&thread, NULL, other, &seen) != 0) return 1;
  pthread_join(thread, NULL);
  shared = seen;
  if (shared != 5 || box.x != 1 || *text != 'b') return 2;
  windows();
  return flag;
}
