// Functions that only pointers or vtables call: which of them ran is not known from their callers'
// blocks.
#include <cstdlib>

static int called(int number) { return number + 1; }
static int not_called(int number) { return number - 1; }
static int (*volatile table[])(int) = {called, not_called};

// With several returns, of which optimisers make one.
static int called_with_branch(int number) {
  if (number > 1) return 3 * number;
  return 2 * number;
}
static int not_called_with_branch(int number) {
  if (number > 1) return 5 * number;
  return 4 * number;
}
static int (*volatile branching[])(int) = {called_with_branch, not_called_with_branch};

struct Shape {
  virtual int area() { return 1; }
  virtual int sides() { return 2; }
};
struct Circle : Shape {
  int area() override { return 3; }
  int sides() override { return 4; }
};
static Circle circle;
static Shape* volatile shape = &circle;

int main(int argc, char** argv) {
  const int number = table[0](argc) + branching[0](argc) + shape->area();
  (void)argv;
  if (number > 0) std::abort();
}
