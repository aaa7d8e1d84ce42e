// Functions whose names debuggers print in their own ways; they call each other, and the last one
// crashes.
#include <functional>
#include <string>

namespace {

int in_unnamed(int x, const char* text) {
  if (x >= 3) __builtin_trap();
  return x + static_cast<int>(text != nullptr);
}

}  // namespace

struct Shop {
  int operator()(int x) const;
  bool operator<(const Shop& other) const;
  template <typename Number>
  int count(Number x);
};

template <typename Number>
int Shop::count(Number x) {
  int sum = 0;
  for (int i = 0; i < 3; ++i)
    if (i == x) sum += i;
  return in_unnamed(static_cast<int>(x) + sum, "a) (b at c.cc:1");
}

int Shop::operator()(int x) const {
  Shop other;
  if (x < 0) return 1;
  return other.count<int>(x) + 1;
}

bool Shop::operator<(const Shop& other) const {
  Shop third;
  if (&other == this) return false;
  return third(3) > 2;
}

int overloaded(int x) {
  Shop a;
  Shop b;
  if (x == 0) return 0;
  return static_cast<int>(a < b);
}

int overloaded(const std::string& text) {
  if (text.empty()) return 1;
  return overloaded(static_cast<int>(text.size()));
}

int main(int argc, char**) {
  const std::function<int(int)> call = [&](int n) {
    if (n == 2) return 0;
    return overloaded(std::string(static_cast<size_t>(n), 'x'));
  };
  if (argc == 7) return 1;
  return call(3);
}
