// Two units with an inline function, a template and a static function of the same name.
#include <cstdio>

#include "shared.h"
static int same(int n) { return n > 2 ? n * 3 : n; }
int other(int n);
int main(int argc, char**) {
  std::printf("%d %d %d %d\n", shared(argc + 9), other(argc), same(argc),
              larger(argc) * of_header(argc));
}
