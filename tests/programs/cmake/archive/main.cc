int limited(int value);

int main(int argc, char**) { return limited(argc) - argc; }
