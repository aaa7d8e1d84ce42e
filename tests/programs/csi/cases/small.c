int small(int number) {
  if (number > 3) return 1;
  return number + 2;
}
