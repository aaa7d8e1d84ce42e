// OpenMP in C++, and default arguments.
#include <cstdio>
#include <string>
#include <vector>

namespace {

int counter = 0;

int next(int step) { return counter += step; }

int scaled(int value, int by = next(2) > 4 ? 10 : 1) { return value * by; }

struct Box {
  explicit Box(int first = next(1)) : value(first) {}
  int take(int more = next(0) == 0 ? 7 : 8) const { return value + more; }
  int value;
};

template <typename T>
T twice(T value, T times = T(next(1) ? 2 : 3)) {
  return value * times;
}

constexpr int sum(int a, int b = 3 > 2 ? 4 : 5) { return a + b; }
static_assert(sum(1) == 5);

int by_default = scaled(1);

int with_lambdas(int n, int m = [] { return next(1) > 0 ? 5 : 6; }()) { return n + m; }

int in_parallel(const std::vector<int>& numbers) {
  int total = 0;
  std::size_t length = 0;
#pragma omp parallel for reduction(+ : total)
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto add = [&](int n) { return n > 2 ? n : sum(n); };
    int here = add(numbers[i]);
    try {
      if (here == 6) throw here;
      total += here;
    } catch (int caught) {
      total += caught * 2;
    }
    std::string name(static_cast<std::size_t>(here), 'x');
#pragma omp critical(names)
    if (name.size() > 3) length += name.size();
  }
  std::vector<int> found(numbers.size());
#pragma omp parallel for
  for (int number : numbers) found[static_cast<std::size_t>(number)] = number ? number : -1;
  for (int number : found) total += number;
  return total + static_cast<int>(length);
}

}  // namespace

int main() {
  std::printf("%d %d %d\n", scaled(2), scaled(2, 3), scaled(2));
  std::printf("%d %d\n", Box().take(), Box(3).take(1));
  std::printf("%d %ld %d\n", twice(2), twice(3L), with_lambdas(1));
  std::printf("%d %d %d\n", in_parallel({0, 3, 6, 1, 2, 4, 5}), by_default, counter);
  return 0;
}
