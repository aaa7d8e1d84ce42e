#include "a.h"
int main(int argc, char **argv) { return argc > ZERO && argv ? 0 : 1; }
