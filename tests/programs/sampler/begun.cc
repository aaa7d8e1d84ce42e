// Default member initialisers, and the operands of co_await, co_yield and co_return.
#include <coroutine>
#include <cstdio>
#include <initializer_list>

int calls;
int next() { return ++calls; }
constexpr int half(int n) { return n > 3 ? n / 2 : n; }

// An implicit constructor.
struct Plain {
  int one = next();
  int two = calls > 2 ? next() : -1;
};

// Two constructors, and lists.
struct Written {
  int first = next() + 1;
  bool odd = first % 2 == 1 && next() > 4;
  Written() {}
  explicit Written(int n) : first(n) {}
};

struct List {
  int a = 1;
  int b = next();
  int c = calls > 100 ? 7 : 8;
};

// A constant expression evaluates it, before and after others do.
struct Constant {
  int n = half(6);
  int m = n > 2 ? 10 : 20;
};
constexpr Constant kBefore;
static_assert(kBefore.m == 10);

template <typename T>
struct Generic {
  T value = static_cast<T>(next());
  T other = value > 4 ? value : T{};
};

int use_constant() {
  const volatile int zero = 0;
  Constant one{zero};
  Constant two;
  return one.m + two.m;
}
constexpr Constant kAfter{1};
static_assert(kAfter.m == 20);

struct Ready {
  int value;
  bool await_ready() const noexcept { return value % 2 == 0; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  int await_resume() const { return value; }
};
struct Wrapped {
  int value;
};
Ready operator co_await(Wrapped w) { return {w.value + 1}; }

struct Task {
  struct promise_type {
    int seen = next();
    int result = 0;
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    Ready await_transform(int n) { return {n}; }
    Ready await_transform(Ready ready) { return ready; }
    Wrapped await_transform(Wrapped wrapped) { return wrapped; }
    std::suspend_always yield_value(int n) {
      seen = n;
      return {};
    }
    int return_value(int n) { return result = n; }
    void unhandled_exception() { result = -1; }
  };
  std::coroutine_handle<promise_type> handle;
};

int weigh(int n) {
  if (n == 6) throw n;
  return n * 2;
}
int flag;

Task work(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    sum += co_await weigh(i);
    if (co_await Ready{next()} > 3) flag = 1;
    sum = sum + (co_await Wrapped{weigh(i + 1)} > 3 ? 1 : 0);
    co_yield i > 1 ? weigh(sum) : sum;
  }
  co_return sum > 5 ? weigh(n) : -sum;
}

struct Nothing {
  struct promise_type {
    Nothing get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
void say(int n) { std::printf("said %d\n", n); }
Nothing quiet() { co_return say(flag ? 5 : 6); }

int main() {
  Plain plain;
  Plain other;
  Written w;
  Written v(5);
  List short_list{3};
  List whole{1, 2, 3};
  List none{};
  Generic<int> generic;
  Generic<long> wide;
  std::printf("%d %d %d %d %d %d %d %d\n", plain.one, plain.two, other.one, other.two, w.first,
              w.odd, v.first, v.odd);
  std::printf("%d %d %d %d %d %d\n", short_list.b, short_list.c, whole.b, none.b, none.a, none.c);
  std::printf("%d %d %ld %ld %d %d\n", generic.value, generic.other, wide.value, wide.other,
              use_constant(), kAfter.m);
  for (const int n : {2, 3, 9}) {
    const Task task = work(n);
    while (!task.handle.done()) {
      task.handle.resume();
      std::printf("%d ", task.handle.promise().seen);
    }
    std::printf("= %d\n", task.handle.promise().result);
    task.handle.destroy();
  }
  quiet();
  std::printf("%d\n", calls);
  return 0;
}
