int main(void) { int x; int never; int later; x = 3; later = x; return later - 3 + 0 * sizeof never; }
