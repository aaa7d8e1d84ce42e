// The C interface: recordings that the program itself starts and stops. Prints what it returned.
#include <telltale/xray_recorder.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>

#define INSTRUMENTED [[clang::xray_always_instrument]] __attribute__((noinline))

INSTRUMENTED int leaf(int x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}
namespace shop {
INSTRUMENTED int other(int x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}
}  // namespace shop

static void call(int times) {
  for (int i = 0; i < times; ++i) leaf(shop::other(i));
}

int main(int, char** argv) {
  const std::string folder = argv[1];
  call(10);  // not recorded
  const int bad = telltale_xray_start("nonsense");
  const int begun = telltale_xray_start(("file=" + folder + "/one.xray").c_str());
  const int twice = telltale_xray_start(nullptr);
  std::atomic<bool> stop{false};
  std::thread beside([&] {
    while (!stop) call(10);
  });
  const std::string first = telltale_xray_file();
  call(100);
  telltale_xray_event("event", 5);
  telltale_xray_typed_event(9, "typed", 5);
  const int unpatched = telltale_xray_patch("shop::*", 0);
  const int patched = telltale_xray_patch("shop::o?her", 1);
  const long long copied = telltale_xray_snapshot((folder + "/copy.xray").c_str());
  const long long again = telltale_xray_snapshot((folder + "/copy.xray").c_str());
  telltale_xray_stop();
  const int between = telltale_xray_is_recording();
  call(1000);  // not recorded
  stop = true;
  beside.join();
  const int second = telltale_xray_start(
      ("file=" + folder + "/two.xray,functions=leaf*,size=64K,buffer=4K,mode=ring").c_str());
  call(20'000);
  telltale_xray_losses losses;
  telltale_xray_get_losses(&losses);
  telltale_xray_stop();
  std::printf(
      "{\"bad\": %d, \"begun\": %d, \"twice\": %d, \"unpatched\": %d, \"patched\": %d, \"copied\": "
      "%d, \"again\": %lld, "
      "\"between\": %d, \"second\": %d, \"overwritten\": %llu, \"file\": \"%s\"}\n",
      bad, begun, twice, unpatched, patched, copied > 0, again, between, second,
      static_cast<unsigned long long>(losses.overwritten), first.c_str());
}
