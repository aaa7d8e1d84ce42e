// Functions whose names have brackets, commas, return types and blanks. Argument: how often each is called.
#include <cstdlib>
#include <string>

struct Row {
  int cells[4];
  [[gnu::noinline]] int& operator[](unsigned long i) {
    asm volatile("");
    return cells[i & 3];
  }
};
namespace shop {
template <class A, class B>
[[gnu::noinline]] A pair_of(A a, B b) {
  asm volatile("" : "+r"(a) : "r"(b));
  return a;
}
}  // namespace shop
namespace {
[[gnu::noinline]] int hidden(int n) {
  asm volatile("" : "+r"(n));
  return n;
}
}  // namespace

int main(int, char** words) {
  const int calls = std::atoi(words[1]);
  Row row{};
  int sum = 0;
  for (int i = 0; i < calls; ++i) {
    row[static_cast<unsigned long>(i)] = i;
    sum += shop::pair_of(i, 2L) + hidden(i);
  }
  return std::to_string(sum).empty() ? 1 : 0;
}
