// A coroutine: its ramp and its parts are functions of their own after coroutines are split.
#include <coroutine>
#include <cstdio>

struct Numbers {
  struct promise_type {
    int value = 0;
    Numbers get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int next) {
      value = next;
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

Numbers count(int n) {
  for (int i = 0; i < n; ++i) {
    if (i % 2 == 0) co_yield i* i;
  }
}

int main() {
  Numbers numbers = count(9);
  int sum = 0;
  while (!numbers.handle.done()) {
    numbers.handle.resume();
    sum += numbers.handle.promise().value;
  }
  numbers.handle.destroy();
  std::printf("%d\n", sum);
}
