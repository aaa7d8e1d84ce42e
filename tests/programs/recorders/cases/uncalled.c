int never(void) { return 1; }
__attribute__((no_instrument_function)) int main(void) { return 0; }
