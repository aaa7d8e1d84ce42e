// Every scheme, in C++: the lines and counters are in schemes.cc.expected.
#include <coroutine>
#include <stdexcept>

namespace zoo {
int legs = 4;

struct Animal {
  virtual ~Animal() = default;
  virtual int feet() const { return legs; }
  int weight = 3;
};
struct Bird final : Animal {
  int feet() const override { return weight > 2 ? 2 : 1; }
};

template <typename T>
T largest(T a, T b) {
  T best = a;
  if (b > a) best = b;
  return best;
}

constexpr int square(int n) {
  int result = n;
  result *= n;
  return result;
}
static_assert(square(4) == 16);

// Lives as long as the loop in whose head it is declared.
struct Guard {
  int uses = 0;
  bool fresh() const { return uses == 0; }
  void use() { ++uses; }
  ~Guard() { uses = -1; }
};

int careful(int n) {
  if (n > 1) throw std::runtime_error("too many");
  return n;
}
}  // namespace zoo

int main() {
  zoo::Bird bird;
  const zoo::Animal& animal = bird;
  int total = animal.feet();
  total += zoo::largest(1, 2);
  double real = zoo::largest(1.5, 0.5);
  const auto odd = [&total](int n) {
    if (n % 2 != 0 && total > 0) return true;
    return false;
  };
  int odds = 0;
  for (const int n : {1, 2, 3})
    if (odd(n)) odds++;
  for (int i = 0; i < 3; ++i) {
    try {
      total += zoo::careful(i);
    } catch (const std::exception&) {
      total = -total;
    }
  }
  for (zoo::Guard guard; guard.fresh(); guard.use()) total += 0;
  if constexpr (sizeof(int) > 1) total += 0;
  if (int twice = zoo::square(total); twice > 8) total = 0;
  return static_cast<int>(real) + odds + total - 3;
}
