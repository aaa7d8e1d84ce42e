int shared_answer(int n) {
  if (n > 2) return 1;
  return 0;
}
