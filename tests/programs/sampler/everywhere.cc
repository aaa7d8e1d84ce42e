// Calls of `told` wherever C++ allows a call. Each call's result is used.
#include <array>
#include <compare>
#include <coroutine>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

int told(int n) { return n; }

namespace {

int global = told(33);                  // not instrumented
thread_local int of_thread = told(11);  // neither is this

struct Pair {
  int a, b;
};
struct Begun {
  int x = told(1);
  int y;
};
struct Base {
  int v;
  explicit Base(int n) : v(n) {}
};
struct Inherits : Base {
  using Base::Base;
  int w{told(2)};
};
struct Calls : Base {
  Calls() : Base(told(3)) {}
};
struct Number {
  int k;
  auto operator<=>(const Number&) const = default;
  int operator[](int a, int b) const { return a + b; }
  int operator()(int a) const { return a; }
};
union Either {
  int i;
  float f;
  Either() : i(told(6)) {}
};
struct Bits {
  unsigned a : 4 = 3;
  unsigned b : 4;
  Bits() : b(told(7)) {}
};
struct Leaves {
  int* place;
  ~Leaves() { *place += told(8); }
};
struct Converts {
  operator int() const { return told(9); }
  explicit operator bool() const { return told(10); }
};
struct Nested {
  Pair pair;
  int row[3];
};
struct Self {
  int q = 2;
  template <class T>
  int add(this T&& self, int k) {
    return self.q + told(k);
  }
};

template <class... T>
int fold(T... all) {
  return (0 + ... + told(all));
}
template <class... T>
bool fold_and(T... all) {
  return (... && (told(all) > 0));
}
template <class T>
T halves(T x) {
  const T half = x / told(2);
  const T& same = half;
  const auto [first, second] = std::pair<T, T>(x, half);
  return half + same + first + second;
}
template <class F>
int call(F&& f) {
  return f(told(41));
}

int length(std::initializer_list<int> list) { return static_cast<int>(list.size()); }
[[noreturn]] void thrower() { throw told(40); }
constexpr int runs_else(int n) {
  if consteval {
    return n;
  } else {
    return told(n);
  }
}
constexpr int runs_then(int n) {
  if !consteval {
    return told(n);
  }
  return n;
}
constexpr int runs_neither(int n) {
  if consteval {
    return -n;
  }
  return n;
}
int left_out(int a, int b = told(5)) { return a + b; }
int* row_of(int n) { return new int[told(n)]{1, 2}; }
int operator""_told(unsigned long long n) { return told(static_cast<int>(n)); }
int caught(int n) try {
  if (told(n) > 3) throw 1;
  return 0;
} catch (...) {
  return told(4);
}
int again(int n) {
  int i = 0;
again:
  if (i < told(n)) {
    i++;
    goto again;
  }
  return i;
}
int chosen(int n) {
  switch (const int m = told(n); m) {
    [[likely]] case 1:
      return told(1);
    case 2:
    case 3:
      return told(2);
    default:
      break;
  }
  return told(3);
}

struct Counts {
  struct promise_type {
    int got = 0;
    Counts get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) {
      got = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
  ~Counts() { handle.destroy(); }
};
Counts counts() {
  for (int i = 0; i < told(2); ++i) co_yield told(i);
}

int& pick(std::vector<int>& numbers, int i) { return numbers[i]; }

int initialised(int argc) {
  Pair braces{told(1), told(2)};
  Pair names{.a = told(3), .b = told(4)};
  Pair parens(told(5), told(6));
  Begun begun{.y = told(7)};
  Begun all_begun{};
  Inherits inherits(told(3));
  Calls calls;
  Either either;
  Bits bits;
  Nested nested{{told(1), told(2)}, {told(3), told(4)}};
  const int fixed = told(2);
  const int more = told(1) + told(2);
  const int asked = fixed > 1 ? told(1) : 2;
  const double half = told(3) * 0.5;
  const bool is = told(1) == 1;
  static const int once = told(9);
  constexpr int kLength = 4;
  const int kMore = kLength + 1;
  int row[kMore] = {told(1), told(2)};
  std::vector<int> numbers{told(1), told(2), told(3)};
  int& one = pick(numbers, told(1));
  one += told(10);
  const std::string& kept = std::string(told(3), 'x');
  const std::string& either_text = argc > 5 ? std::string(told(1), 'x') : std::string(told(2), 'y');
  const auto& [x, y] = std::pair<int, int>(told(3), 4);
  int&& moved = told(6);
  const int* const place = &numbers[told(1)];
  std::array<int, 2> array{told(1), told(2)};
  auto [first, second] = array;
  auto [left, right] = std::make_pair(told(1), told(2));
  struct Local {
    int z = told(5);
    int get() { return told(z); }
  } local;
  return braces.a + names.b + parens.a + begun.x + all_begun.x + inherits.w + calls.v + either.i +
         bits.b + nested.row[told(1)] + fixed + more + asked + static_cast<int>(half) + is + once +
         row[1] + one + static_cast<int>(kept.size() + either_text.size()) + x + y + moved +
         *place + first + right + local.get() + second + left;
}

int expressions() {
  int s = 0;
  const Number three{told(3)};
  const Number four{told(4)};
  s += (three < four) + (three == four) + three[told(1), told(2)] + three(told(3));
  s += fold(1, 2, 3) + fold_and(1, 2, 0) + length({told(1), told(2), told(3)});
  s += call([](int x) { return x + told(4); });
  s += call([&](auto x) { return x + told(5) + s; });
  s += runs_else(4) + runs_then(5) + runs_neither(6) - 6 + Self{}.add(told(6)) + left_out(told(7)) +
       halves(8);
  const int* const row = row_of(2);
  s += row[told(1)];
  delete[] row;
  const Converts converts;
  s += converts;
  if (converts) s += 1;
  s += !converts ? told(2) : told(3);
  s += 12_told;
  const std::function<int(int)> holds = [k = told(5)](int x) { return k + told(x); };
  s += holds(told(6));
  const auto pair = std::make_unique<Pair>(Pair{told(1), told(2)});
  s += pair->a;
  const std::optional<int> maybe = told(7) ? std::optional<int>(told(8)) : std::nullopt;
  s += maybe.value_or(told(9)) + *maybe;
  s += ((void)told(1), told(2));
  s += (told(1) <=> told(2)) < 0;
  s += static_cast<int>(static_cast<long>(told(5))) + std::move(told(4));
  s += ((told(1) && told(0)) || told(2)) + (told(0) ? 5 : told(2)) + -told(3);
  const int* const made = new (std::nothrow) int(told(3));
  s += *made;
  delete made;
  return s + std::min({told(3), told(4)}) + of_thread;
}

int statements() {
  int s = 0;
  try {
    thrower();
  } catch (const int& e) {
    s += e;
  }
  {
    Leaves leaves{&s};
  }
  const Counts counted = counts();
  for (counted.handle.resume(); !counted.handle.done(); counted.handle.resume())
    s += counted.handle.promise().got;
  s += caught(2) + caught(5) + again(3) + chosen(1) + chosen(3) + chosen(9);
  std::map<int, int> map;
  map[told(1)] = told(2);
  for (const auto& [key, value] : map) s += key + told(value);
  for (int i = told(0), n = told(3); i < n; i += told(1)) s += i;
  if (const auto x = told(1); x > told(0)) s++;
  while (const auto y = told(0)) s += y;
  if constexpr (sizeof(int) == 4)
    s += told(6);
  else
    s += told(7);
  do {
    s -= 1;
  } while (s > 10 && told(1));
  return s;
}

struct Friendly {
  int v;
  friend bool operator==(const Friendly& a, const Friendly& b) { return told(a.v) == told(b.v); }
  friend int hidden(const Friendly& a) { return told(a.v); }
  virtual int shadowed() { return told(v); }
  virtual ~Friendly() { v = told(v); }
};
struct Shadows : Friendly {
  int shadowed() override { return Friendly::shadowed() + told(1); }
};
typedef struct {
  int get() { return told(1); }
  int v = told(3);
} NamedLater;
struct Kept {
  [[gnu::used]] int get() { return told(4); }
};
struct Tries {
  int k;
  explicit Tries(int n) try : k(told(n)) {
  } catch (...) {
    k = 0;
  }
  ~Tries() try { k = told(1); } catch (...) {
  }
};
template <class T>
struct Box {
  T t;
  int get() const { return told(t); }
  template <class U>
  int with(U u) const {
    return told(u) + told(t);
  }
  friend int boxed(const Box& box) { return told(box.t); }
  struct Inner {
    int get(int k) { return told(k); }
  };
};
template struct Box<char>;
template <>
struct Box<long> {
  int get() const { return told(9); }
};
template <class T>
int of(T t) {
  return told(t);
}
template int of<short>(short);
template <>
int of<double>(double d) {
  return told(static_cast<int>(d));
}
template <class T>
concept Tellable = requires(T t) { told(t); };
template <Tellable T>
auto constrained(T t) -> decltype(told(t)) {
  if constexpr (sizeof(T) == 4)
    return told(t);
  else
    return told(t) + told(1);
}

// Lambdas outside of functions.
const auto of_file = [](int x) { return told(x); };
const auto in_lambda = [](auto x) { return [x](auto y) { return told(x) + told(y); }; };
template <class T>
constexpr auto of_template = [](T x) { return told(x); };
struct OfMember {
  int (*f)(int) = [](int x) { return told(x); };
};
int of_argument(int (*f)(int) = [](int x) { return told(x); }) { return f(3); }

extern "C" int in_function(int x) {
  struct Local {
    int get(int y) { return told(y); }
    static int get_static(int y) { return told(y); }
  };
  const auto outer = [&] {
    const auto inner = [&] { return told(x); };
    return inner();
  };
  return outer() + Local{}.get(1) + Local::get_static(2);
}
[[gnu::constructor]] void begin() { of_thread += told(1); }

int functions() {
  Shadows one;
  one.v = 1;
  Shadows two;
  two.v = 2;
  int s = static_cast<const Friendly&>(one) == static_cast<const Friendly&>(two);
  s += hidden(one) + one.shadowed();
  s += NamedLater{}.get() + NamedLater{}.v + Kept{}.get() + Tries(3).k;
  const Box<int> box{3};
  s += box.get() + box.with(2) + box.with('c') + boxed(box) + Box<int>::Inner{}.get(3);
  s += Box<long>{}.get() + Box<char>{2}.get() + of(3) + of<short>(2) + of(2.5);
  s += constrained(3) + constrained('c');
  s += of_file(1) + in_lambda(2)(3) + of_template<int>(5) + OfMember{}.f(4) + of_argument();
  return s + in_function(4);
}

}  // namespace

int main(int argc, char**) {
  std::printf("%d\n", initialised(argc) + expressions() + statements() + functions() + global);
  return 0;
}
