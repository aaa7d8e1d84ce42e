// Constructors, destructors, exceptions, lambdas and templates. It ends by exit().
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>
static volatile int sink;
struct Noisy {
  int id;
  explicit Noisy(int i) : id(i) { sink = i; }
  Noisy(const Noisy& o) : id(o.id + 100) {
    sink = id;
  }
  ~Noisy() {
    if (id > 100)
      sink = -id;
    else
      sink = id;
  }
};
struct Base {
  Base() { init(); }
  virtual ~Base() = default;
  virtual int kind() const { return 0; }
  void init() {
    sink = 1;
  }
};
struct VBase {
  int v = 3;
  VBase() {
    v = 4;
  }
  virtual ~VBase() {
    sink = v;
  }
};
struct Left : virtual VBase {
  Left() { sink = 7; }
};
struct Right : virtual VBase {
  Right() {
    sink = 8;
  }
};
struct Diamond : Left, Right {
  Diamond() try : Left(), Right() {
    sink = 9;
  } catch (...) {
    sink = 10;
    throw;
  }
};
struct Derived final : Base {
  std::string name = "d";
  int kind() const override {
    return name.size() > 3 ? 2
                           : 1;
  }
};
struct Unused : Base {
  int kind() const override {
    return 9;
  }
};
static Noisy at_start(5);
static int computed_at_start = []() {
  int r = 0;
  for (int i = 0; i < 3; ++i)
    r += i;
  return r;
}();
template <typename T, int N>
T fold(const T (&a)[N]) {
  T r{};
  for (const T& x : a) {
    if (x == T{})
      continue;
    r += x;
  }
  return r;
}
template <typename T>
T never_called(T t) {
  return t * 2;
}
static int thrower(int n) {
  Noisy guard(n);
  if (n == 2)
    throw std::runtime_error("two");
  if (n == 3)
    throw 3;
  return n;
}
static int catcher(int n) {
  try {
    int r = thrower(n);
    sink = r;
    return r;
  } catch (const std::runtime_error& e) {
    Noisy in_handler(50);
    return -2;
  } catch (int i) {
    return -i;
  }
  return 0;
}
static int rethrower() {
  try {
    try {
      thrower(2);
      sink = 1;
    } catch (...) {
      sink = 2;
      throw;
    }
  } catch (std::exception&) {
    return 5;
  }
  return 6;
}
static int statics(int n) {
  static Noisy once(n);
  return once.id;
}
static void noexcept_user() noexcept {
  std::vector<Noisy> v;
  v.emplace_back(1);
  v.emplace_back(2);
}
enum class Color { red, green, blue };
static const char* name(Color c) {
  switch (c) {
    case Color::red:
      return "red";
    case Color::green:
      return "green";
    case Color::blue:
      break;
  }
  return "?";
}
int main(int argc, char** argv) {
  int total = 0;
  {
    Noisy a(1);
    Noisy b(a);
    total += b.id;
  }
  for (int i = 1; i < 3; ++i)
    total += catcher(i);
  total += rethrower();
  total += statics(4) + statics(6);
  std::unique_ptr<Base> p = argc > 3 ? std::unique_ptr<Base>(new Unused)
                                     : std::make_unique<Derived>();
  total += p->kind();
  int numbers[] = {1, 0, 4};
  total += fold(numbers);
  std::function<int(int)> f = [&](int x) {
    if (x > 5) {
      return total;
    }
    return x;
  };
  auto g = [](auto x) {
    return x + 1;
  };
  total += f(3) + g(argc);
  Diamond d;
  noexcept_user();
  std::map<std::string, int> m{{"a", 1}};
  if (auto it = m.find("b"); it != m.end())
    total += it->second;
  else
    total--;
  for (auto& [k, v] : m)
    total += v;
  std::printf("%d %s\n", total, name(Color::green));
  if (total == 4711)
    total = never_called(total);
  std::exit(0);
}
