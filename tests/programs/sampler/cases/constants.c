int main(void) { int x = 7; unsigned y = 3; if (x > 32) return 1; return (int)y - 3; }
