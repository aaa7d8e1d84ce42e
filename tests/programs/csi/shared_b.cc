#include "shared.h"
static int same(int n) { return n > 1 ? n * 5 : n; }
int other(int n) { return shared(n + 3) + same(n) + larger(n); }
