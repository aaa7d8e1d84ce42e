typedef void *gpointer;
struct part { struct part *next; int languages[4]; char name; };
static struct part tail = {0, {1, 2, 3, 4}, 'z'}, head = {&tail, {5, 6, 7, 8}, 'a'};
static struct part *first = &head;
static int five(int n) { return 5; }
static int (*function)(int) = five;
int cmd;
int main(int argc, char **argv) {
  int x = 2, y = 0;
  if (argv[0][0]) y++;
  if (first->next->languages[x]) y--;
  while (x--) y += 2;
  if (five(1) > 4 && !(function(2) == 6)) y = five(3);
  if (first->name == 'a') { char cmd = 'q'; cmd = (char)y; }
  if (first->next != (void *)0) { gpointer self = (gpointer)first; self = self; }
  head.languages[y & 3] = argc;
  *(first->languages + 1) = (y = 4) + 1;
  if (y | argc << 2 + y) y = x < 0 ? 1 : 2;
  return 0;
}
