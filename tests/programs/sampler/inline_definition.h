/* C's way of an inline function: one file makes its definition external. */
inline int twice(int number) {
  if (number > 3) return number * 2;
  return number;
}
