int n = 0;
int next() { return n += 3; }
int f(int a = next() > 4 ? 1 : 2) { return a; }
int at_start = f();
int quiet() { return f(); }
int main() { return f() + quiet() + at_start - 4; }
