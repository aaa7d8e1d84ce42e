int f(int n) { int s = 0; while (n-- > 0) if (n & 1) s += n; return s; }
