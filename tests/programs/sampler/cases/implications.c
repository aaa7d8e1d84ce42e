int main(void) { int x = 7; unsigned y = 3; x = -5; return x + 5 + (int)y - 3; }
