// The concurrency schemes, in C++: the lines and counters are in accesses.cc.expected.
#include <array>
#include <cstdlib>

namespace {

int shared = 1;

struct Counter {
  int count = 0;
  static inline long all = 0;
  int& next() {
    ++count;
    all += count;
    return count;
  }
  [[nodiscard]] int get() const { return count; }
};

template <typename T>
T bump(T& value) {
  value += 2;
  return value++;
}

int sum(const std::array<int, 2>& numbers) {
  int total = 0;
  for (const int number : numbers) total += number;
  return total;
}

}  // namespace

int main() {
  Counter counter;
  counter.next() = 7;
  int local = 3;
  int& alias = local;
  alias = shared = counter.get();
  (shared += 2) = local;
  int held = 0;
  const auto add = [&held, local](int by) { held += by + local; };
  add(1);
  long number = 4;
  if (bump(shared) + bump(number) != 15) return 1;
  auto* made = new int(5);
  *made = sum({1, 2});
  const int kept = *made;
  delete made;
  int order = 1;
  shared = 1;
  const auto change = [] { return shared = 10; };
  shared += change();
  order = shared++ - --shared;
  if (shared != 20 || order != 0 || held != 8 || kept != 3) return 2;
  return 0;
}
