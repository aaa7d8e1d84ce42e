/* More than the crash handler writes of a program's data. */
char large_data[17 << 20];
void* find_large_data(void) { return large_data; }
