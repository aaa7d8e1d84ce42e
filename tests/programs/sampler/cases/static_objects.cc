int other(int n) { if (n > 5) return 1; return 0; }
struct O { O() { other(3); } ~O() { other(7); } } o;
