// Which locals other threads may access: those whose address leaves the function.
static void keep(int *numbers) { *numbers += 1; }

int main(void) {
  int passed[2] = {0, 0};
  int unread[2] = {0, 0};
  int alone[2] = {0, 0};
  keep(passed);
  (void)unread[0];
  passed[0] = 5;
  unread[0] = 6;
  alone[0] = 7;
  return alone[0] + unread[0] + passed[0] - 18;
}
