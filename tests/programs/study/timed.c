// The consequence comes first in the source, and later in time.
#include <stdlib.h>
static int consequence(int n) { if (n > 5) abort(); return n; }
static int cause(int n) { if (n % 3 == 0) return 9; return 1; }
int main(int argc, char **argv) { return consequence(cause(atoi(argv[argc - 1]))) - 1; }
