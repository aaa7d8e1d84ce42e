int main(int argc, char **argv) {
  int n = argc * 2;
  if (n > 3) n--;
  if (n > 1) n++;
  return n != 3;
}
