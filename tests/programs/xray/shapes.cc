// Classes, templates, a local function, tail calls, an argument logged, a custom event.
#include <cstdio>
#include <vector>
namespace ns {
struct Shape {
  int size;
  explicit Shape(int a);
  virtual ~Shape();
  int get(int k) const;
};
Shape::Shape(int a) : size(a) { std::printf("%d\n", a); }
Shape::~Shape() { std::printf("gone\n"); }
[[clang::noinline]] int Shape::get(int k) const { return k < 2 ? size : get(k - 1) + get(k - 2); }
template <class T>
[[clang::noinline]] T twice(T v) {
  std::printf("twice\n");
  return v + v;
}
}  // namespace ns
[[clang::xray_always_instrument, clang::noinline]] static int hidden(int a) { return a * 3; }
[[clang::xray_always_instrument, clang::xray_log_args(1), clang::noinline]] long logged(long v) {
  return v + 1;
}
extern "C" [[clang::noinline]] int tail(int a) { return hidden(a + 1); }
int main(int argc, char**) {
  ns::Shape shape(argc);
  std::vector<int> values;
  values.push_back(shape.get(5));
  __xray_customevent("hello", 5);
#ifdef TYPED
  __xray_typedevent(3, "abc", 3);
#endif
  return tail(values[0]) + ns::twice(argc) + static_cast<int>(ns::twice(2.0) + logged(3)) == 0;
}
