// A coroutine whose frame the optimiser removes: it aborts when it is resumed the second time, so
// that nothing is left of the first time and of what its caller does between them.
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
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int next) {
      value = next; // ran
      return {};
    }
    std::exception_ptr error;
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
  };
  std::coroutine_handle<promise_type> handle;
  ~Numbers() { handle.destroy(); }
  bool next() {
    handle.resume(); // ran
    if (handle.promise().error) // ran
      std::rethrow_exception(handle.promise().error); // not
    return !handle.done(); // ran
  }
  int get() { return handle.promise().value; } // ran
};

static Numbers two(int n) {
  co_yield n; // ran
  if (n > 1) // ran
    std::abort(); // ran
  co_yield n + 1; // ran
}

static Numbers up_to(int from, int to) {
  for (int i = from; i < to; ++i) { // ran
    if (i == 13) // ran
      throw i; // not
    co_yield i; // ran
  }
}

int main() {
  int sum = 0; // ran
  {
    Numbers unfinished = up_to(1, 9); // ran
    unfinished.next(); // ran
  }
  Numbers one = two(1); // ran
  while (one.next()) // ran
    sum += one.get(); // ran
  Numbers again = two(sum); // ran
  while (again.next()) // ran
    sum += again.get(); // ran
  std::printf("never %d\n", sum); // not
}
