int other(int value) {
  while (value) value--;
  return value;
}
