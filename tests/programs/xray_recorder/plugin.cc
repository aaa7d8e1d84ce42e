// A library to be loaded and unloaded; NAME distinguishes its variants.
namespace plugins {
[[clang::xray_always_instrument]] __attribute__((noinline)) int NAME(int x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}
}  // namespace plugins
extern "C" int plugin(int x) { return plugins::NAME(x); }
