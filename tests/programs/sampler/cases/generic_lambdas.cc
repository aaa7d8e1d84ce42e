// Bodies of generic lambdas that are first instantiated for their return types, in unevaluated
// operands. Each is entered once, with 1.
#include <functional>
#include <variant>

auto global = [](auto x) {
  if (x > 1) return 1;
  return 2;
};

template <typename F>
concept takes_int = requires(F f) { f(1); };
template <takes_int F>
int call(F f) {
  return f(1);
}

template <typename T>
int inside_a_template(T value) {
  std::function<T(T)> f = [](auto x) {
    if (x > 2) return 1;
    return 2;
  };
  return f(value);
}

int main() {
  std::function<int(int)> stored = [](auto x) {
    if (x > 3) return 1;
    return 2;
  };
  std::variant<int, double> either = 1;
  const int visited = std::visit(
      [](auto x) {
        // Another lambda in it.
        return std::invoke(
            [](auto y) {
              if (y > 4) return 1;
              return 2;
            },
            x);
      },
      either);
  return call(global) + stored(1) + visited + inside_a_template(1) - 8;
}
