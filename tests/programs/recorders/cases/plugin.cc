namespace shop { [[gnu::noinline]] int NAME(int n) { asm volatile(""); return n + 1; } }
extern "C" int run(int n) { return shop::NAME(n); }
