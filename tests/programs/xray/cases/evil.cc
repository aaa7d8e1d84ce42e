[[clang::xray_always_instrument]] int evil() asm(NAME);
int evil() { return 1; }
int main() { return evil(); }
