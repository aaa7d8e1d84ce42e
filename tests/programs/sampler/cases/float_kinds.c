static double kept;
static double all[] = {-1 / 0.0, -2, -4e-320, -0.0, 0 / 0.0, 0.0, 4e-320, 2, 1 / 0.0};
int main(void) {
  for (int i = 0; i < 9; i++) {
    for (int j = 0; j <= i; j++) {
      kept = all[i];
    }
  }
  return 0;
}
