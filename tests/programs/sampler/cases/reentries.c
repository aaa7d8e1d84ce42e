int down(int n) { return n ? down(n - 1) : 0; }
int main(void) { return down(3); }
