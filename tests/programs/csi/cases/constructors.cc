// Code that runs before main, and a crash in main, or before it (EARLY).
#include <cstdlib>

static volatile int sink;
static void crash() { *reinterpret_cast<volatile int*>(8) = 1; }

struct Table {
  Table() : size(twice(3)) {}
  static int twice(int n) { return n < 100 ? 2 * n : 100; }
  int size;
};
static Table table;
inline Table shared_table;

__attribute__((constructor)) static void begins() {
  if (std::getenv("EARLY")) crash();
  sink += 1;
}
static void rarely() { sink += 2; }
__attribute__((constructor)) static void asks() {
  if (std::getenv("RARE")) rarely();
}
__attribute__((destructor)) static void ends() { sink += 3; }

int main() {
  sink += table.size + shared_table.size;
  crash();
}
