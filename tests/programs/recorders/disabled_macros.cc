// Every macro, with arguments that must not be evaluated when it is disabled.
#ifdef NO_MACROS
#define TELLTALE_FUNCTION() static_assert(true)
#define TELLTALE_BLOCK(name) static_assert(true)
#define TELLTALE_STEP(name) ((void)0)
#define TELLTALE_VALUE(name, ...) ((void)0)
#define TELLTALE_FILE_PROPERTY(text) static_assert(true)
#else
#include <telltale/stacktrack.hpp>
#endif
struct Bits {
  unsigned few : 3;
};
template <typename A, typename B>
struct Pair {
  A a;
  B b;
};
int touch();
TELLTALE_FILE_PROPERTY("owner=nobody");
int work(int n, Bits bits) {
  TELLTALE_FUNCTION();
  for (int i = 0; i < n; ++i) {
    TELLTALE_BLOCK("block");
    if (i == 3)
      TELLTALE_STEP("step");
    else
      TELLTALE_VALUE("value", touch());
    TELLTALE_VALUE("bits", bits.few);
    TELLTALE_VALUE("pair", Pair<int, long>{touch(), 2}.a);
  }
  return n;
}
