// Read as text, as a precompiled header, as a header unit and as a module of a map.
#pragma once

static inline int over(const int* numbers, int count) {
  int found = 0;
  for (int i = 0; i < count; ++i)
    if (numbers[i] > 2) found++;
  return found;
}

inline int number_of(int id) { return id > 0 ? id : -id; }

struct Counter {
  int first = number_of(-3);
  int second = first > 2 ? 1 : 0;

  int sum(int more = number_of(4)) const { return first > 0 ? first + second + more : 0; }
  int checked() const try {
    if (first == 3) throw first;
    return second;
  } catch (int thrown) {
    return thrown == 3 ? 7 : 8;
  }
};

template <class T>
struct Box {
  T held = static_cast<T>(number_of(5));
  T get() const {
    if (held > 4) return held;
    return 0;
  }
};
