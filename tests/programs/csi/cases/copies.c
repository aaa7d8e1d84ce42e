/* pick() is inlined into main, where no instruction belongs to its last line; the function itself is not called. */
#include <stdlib.h>
struct node {
  struct node* next;
  int value;
};
static struct node* head;
static int total;
__attribute__((noinline)) static int weigh(const struct node* node) { return node->value % 5 + ++total; }
int pick(int value, int bad) {
  struct node* node = head;
  while (node && node->value != value) node = node->next;
  if (bad && !node) {
    return *(volatile int*)&node->value;
  }
  return node ? weigh(node) : -1;
}
static void never(void) { total = 0; }
int main(int argc, char** argv) {
  long sum = 0;
  for (int i = 0; i < 13; ++i) {
    struct node* node = malloc(sizeof *node);
    node->next = head;
    node->value = i * 7 % 13;
    head = node;
  }
  if (argc > 1000) never();
  for (int i = 0; i < 13; i++) sum += pick(i, argc > 2);
  total = (int)sum + (argv[0] != 0);
  *(volatile int*)8 = total;
  return 0;
}
