int module_answer(int); int main(void) { return module_answer(0); }
