// The body of a coroutine. Comments say what ran: "ran" or "not".
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <exception>

struct Numbers {
  struct promise_type {
    int value = 0;
    Numbers get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int next) {
      value = next;  // ran
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

static int print(int number) {
  std::puts("print");  // not
  return number;
}

static Numbers numbers(int count) {
  for (int i = 0; i < count; ++i) {
    if (count > 100) {    // ran
      std::puts("many");  // not
      co_yield print(i);  // not
    } else {
      std::puts("few");   // ran
      if (i == 3)         // ran
        std::abort();     // ran
      co_yield i * 2;     // ran
    }
  }
  std::puts("never");  // not
}

int main(int argc, char**) {
  Numbers all = numbers(6 + argc);
  for (int i = 0; i < 10; ++i) {
    all.handle.resume();                                // ran
    std::printf("%d\n", all.handle.promise().value);  // ran
  }
  all.handle.destroy();  // not
}
