// Coroutines, and constructors with instrumented default member initialisers.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

namespace {

int calls = 0;
int next() { return ++calls; }
bool is_odd(int n) { return n % 2 == 1; }

struct Base {
  explicit Base(int n) : number(n > 1 ? n : -n) {}
  int number;
};

struct Derived : Base {
  Derived(int a, int b) : Base(next()), first(a ? next() : 0), odd(is_odd(b)), rest{b, a && b} {}
  Derived() try : Base(0), first(next() > 100 ? throw std::runtime_error("no") : 1), odd(false) {
  } catch (...) {
  }
  int first;
  bool odd;
  int rest[2] = {next(), 7};
  union {
    int one = 1;
    float other;
  };
};

template <typename T>
struct Generator {
  struct promise_type {
    T value{};
    std::exception_ptr failed;
    Generator get_return_object() {
      return Generator{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(T given) {
      value = given;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { failed = std::current_exception(); }
  };
  std::coroutine_handle<promise_type> handle;
  explicit Generator(std::coroutine_handle<promise_type> h) : handle(h) {}
  Generator(Generator&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  ~Generator() {
    if (handle) handle.destroy();
  }
  bool step() {
    handle.resume();
    if (handle.promise().failed) std::rethrow_exception(handle.promise().failed);
    return !handle.done();
  }
};

Generator<int> count(int from, int to) {
  int passed = 0;
  for (int i = from; i < to; ++i) {
    passed += i;
    if (is_odd(i)) continue;
    co_yield i + passed;
  }
  if (to > 100) throw std::out_of_range("far");
  co_yield -passed;
  co_return;
}

Generator<long> twice(int n) {
  auto inner = count(0, n);
  while (inner.step()) {
    const long value = inner.handle.promise().value;
    co_yield value > 0 && value < 50 ? value * 2 : -1;
  }
}

}  // namespace

int main() {
  const Derived one(3, 5);
  const Derived two;
  std::printf("%d %d %d %d %d %d\n", one.number, one.first, one.odd, one.rest[0], one.rest[1],
              one.one);
  std::printf("%d %d %d %d\n", two.number, two.first, two.rest[0], calls);
  auto all = twice(8);
  while (all.step()) std::printf("%ld ", all.handle.promise().value);
  try {
    auto far = count(99, 101);
    while (far.step()) std::printf("%d ", far.handle.promise().value);
  } catch (const std::out_of_range& problem) {
    std::printf("%s\n", problem.what());
  }
  auto left = count(1, 5);
  left.step();
  std::printf("%d\n", left.handle.promise().value);
  return 0;
}
