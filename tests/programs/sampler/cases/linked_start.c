int linked_answer(int); int start(void) __attribute__((constructor));
int start(void) { int i, n = 0; for (i = 0; i < 4; i++) n += linked_answer(i); return n; }
