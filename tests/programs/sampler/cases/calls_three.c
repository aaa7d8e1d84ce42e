int first(int), second(int), third(int);
int main(void) { return first(9999) + second(9999) + third(9999) == 0; }
