#include <sys/wait.h>
#include <unistd.h>
volatile int sink;
void pass(int times) {
  int other = 3;
  for (int i = 0; i < times; i++) {
    int value = i;
    sink = value + other;
  }
}
int main(void) {
  pass(5);
  if (fork() == 0) {
    pass(3);
    return 0;
  }
  wait(0);
  pass(300);
  return 0;
}
