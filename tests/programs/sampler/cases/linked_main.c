int linked_answer(int); int main(void) { if (linked_answer(3)) return 0; return 1; }
