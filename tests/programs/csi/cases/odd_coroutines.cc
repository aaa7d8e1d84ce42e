// Coroutines, variants, constexpr functions and `if constexpr`. It ends when main returns.
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <variant>
static volatile int sink;
struct Gen {
  struct promise_type {
    int value = 0;
    Gen get_return_object() { return Gen{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
  };
  std::coroutine_handle<promise_type> h;
  ~Gen() {
    if (h)
      h.destroy();
  }
  std::optional<int> next() {
    h.resume();
    if (h.done())
      return std::nullopt;
    return h.promise().value;
  }
};
static Gen count(int n) {
  for (int i = 0; i < n; ++i) {
    if (i == 1) {
      sink = 4;
      co_yield 10;
    } else if (i == 7)
      co_yield 70;
    co_yield i;
  }
  sink = n;
}
static Gen endless(int a) {
  int b = 1;
  while (true) {
    co_yield a;
    int c = a + b;
    a = b;
    b = c;
  }
}
template <class... F> struct over : F... { using F::operator()...; };
template <class... F> over(F...) -> over<F...>;
static int visit(std::variant<int, double, char> v) {
  return std::visit(over{[](int i) { return i; },
                         [](double d) {
                           return (int)d;
                         },
                         [](char c) {
                           sink = c;
                           return c - 'a';
                         }},
                    v);
}
constexpr int fact(int n) {
  return n < 2 ? 1 : n * fact(n - 1);
}
template <int N> int pick() {
  if constexpr (N > 3) {
    return N;
  } else {
    return -N;
  }
}
int main(int argc, char**) {
  int total = 0;
  Gen g = count(3);
  while (auto v = g.next()) {
    total += *v;
    if (total > 1000)
      break;
  }
  Gen e = endless(argc);
  for (int i = 0; i < 6; ++i)
    total += *e.next();
  total += visit(3) + visit('c');
  total += fact(argc + 4);
  total += pick<2>() + pick<5>();
  std::printf("%d\n", total);
  return 0;
}
