int module_answer(int n) {
  int result = 0;
  if (n > 1) result = n;
  return result;
}
