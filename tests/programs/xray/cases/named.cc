extern "C" __attribute__((noinline)) void NAME() { asm volatile(""); }
int main() { NAME(); }
