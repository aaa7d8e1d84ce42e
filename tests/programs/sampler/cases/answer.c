int NAME_answer(int n) {
  if (n > LIMIT) return 1;
  return 0;
}
