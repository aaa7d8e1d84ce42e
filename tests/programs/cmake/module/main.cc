import limits;

int main(int argc, char**) { return limited(argc) - argc; }
