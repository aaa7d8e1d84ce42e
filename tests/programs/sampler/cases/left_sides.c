struct pair { int one; NUMBER many; NUMBER room[2]; };
struct pair shared;
NUMBER shared_many[2];
NUMBER shared_one;
void f(struct pair *p, NUMBER *q) {
  struct pair local;
  NUMBER array[2];
  NUMBER plain;
  plain = 1;
  local.many = 2;
  array[1] = 3;
  shared_one = 4;
  shared.many = 5;
  shared_many[1] = 6;
  *q = 7;
  p->many = 8;
  p->room[1] = 9;
  q[1] = 10;
}
int main(void) {
  NUMBER room[2];
  f(&shared, room);
  return 0;
}
