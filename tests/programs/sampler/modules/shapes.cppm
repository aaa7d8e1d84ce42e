// A module whose sites stand in its own unit and in those that import it.
export module shapes;

export inline int twice(int x) {
  if (x > 3) return x * 2;
  return x;
}

export template <class T>
T larger(T a, T b) {
  return a < b ? b : a;
}

export int area(int side);
int area(int side) {
  int doubled = twice(side);
  if (doubled == 8) doubled++;
  return doubled;
}
