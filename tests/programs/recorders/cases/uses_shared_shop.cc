namespace shop { int ship(int n); [[gnu::noinline]] int pack(int n) { return ship(n) + ship(n + 1); } }
int main() { int sum = 0; for (int i = 0; i < 5; ++i) sum += shop::pack(i); return sum == 0; }
