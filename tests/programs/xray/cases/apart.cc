extern "C" {
int shared;
__attribute__((section(".apart"), noinline)) void alone() { shared += 1; }
__attribute__((section(".close"), noinline)) void near_it() { shared += 2; }
}
int main() { alone(), near_it(); }
