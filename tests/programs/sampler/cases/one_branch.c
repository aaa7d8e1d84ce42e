int main(int argc, char **argv) { if (argc > 5) return 1; return 0; }
