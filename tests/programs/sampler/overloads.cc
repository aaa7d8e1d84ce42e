// Functions that share a name in one file, and names with blanks and commas.
#include <cstdio>

void show(int) { std::puts("number"); }
void show(const char* text) { std::puts(text); }

struct Pair {
  explicit Pair(int both) : first(both), second(both) {}
  Pair(int first, int second) : first(first), second(second) {}
  explicit operator int() const { return first; }
  Pair operator,(const Pair& other) const { return other; }
  int first;
  int second;
};

template <typename First, typename Second>
bool less(First first, Second second) {
  return first < static_cast<First>(second);
}

int main(int argc, char**) {
  show(1);
  const Pair pair(3, 4);
  if (argc > 5) {
    show("never");
    return static_cast<int>(Pair(argc));
  }
  return less(1, 'c') && less(1L, 2) && (Pair(1, 2), pair).second == 4 ? 0 : 1;
}
