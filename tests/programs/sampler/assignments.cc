// Assignments that read what they write, for which C++17 defines the order. Prints values that must
// not change.
#include <cstdio>
#include <memory>
#include <utility>

namespace {

int plain = 1;

int change(int to) { return std::exchange(plain, to); }

int trace(int number) {
  std::printf("%d ", number);
  return number;
}

int& place(int& what, int number) {
  std::printf("%d ", number);
  return what;
}

struct Held {
  int number = 5;
  bool is = false;
  long* far = nullptr;
  Held& operator+=(int by) {
    number += by;
    return *this;
  }
};

template <typename T>
T twice(T value) {
  value += value;
  T kept = value++;
  return kept + --value;
}

constexpr int at_compile_time(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += i;
  return sum;
}
static_assert(at_compile_time(5) == 10);

}  // namespace

int main() {
  plain += change(10);
  std::printf("%d\n", plain);
  int local = 3;
  place(local, 2) += trace(1);
  place(local, 4) <<= trace(3);
  std::printf("%d\n", local);
  (local += 2) *= 3;
  ++(local -= 1);
  std::printf("%d\n", ++ ++local);
  int& alias = local += 4;
  alias++;
  std::printf("%d %d\n", alias, local);
  Held held;
  (held += 3) += 4;
  long far = 8;
  held.far = &far;
  *held.far -= held.number--;
  held.is |= held.number > 3;
  std::printf("%d %d %ld\n", held.number, held.is, far);
  const auto by_reference = [&] { return local += held.number++; };
  auto by_value = [local]() mutable { return local++ + ++local; };
  const int first = by_reference();
  std::printf("%d %d %d\n", first, local, by_value());
  std::printf("%d %g %ld\n", twice(4), twice(0.25), twice(9L));
  auto owned = std::make_unique<int[]>(3);
  owned[1] += 5;
  owned[std::exchange(local, 2) > 0 ? local : 0]++;
  std::printf("%d %d %d\n", owned[0], owned[1], owned[2]);
  int list[] = {1, 2, 3};
  for (int& one : list) one *= one;
  for (int* at = list; at != list + 3; ++at) std::printf("%d ", *at);
  std::printf("\n%d\n", at_compile_time(trace(6)));
  try {
    local += [&]() -> int { throw local++; }();
  } catch (int was) {
    std::printf("%d %d\n", was, local);
  }
  unsigned char narrow = 250;
  narrow += 10;
  std::printf("%d %d\n", narrow++, narrow--);
  return 0;
}
