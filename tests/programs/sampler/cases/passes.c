int x;
void see(int n) {
  x = n;
}
int main(void) { for (int i = 1; i <= 20000; i++) see(i); return 0; }
