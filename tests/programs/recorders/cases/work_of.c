#include <stdlib.h>
int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }
int main(int argc, char** argv) { return work(atoi(argv[1])) < 0; }
